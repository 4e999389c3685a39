//! A Rust file taken apart far enough for the rules: code and comments per line, test regions, functions.
//!
//! Not a parser. A small lexer blanks strings and comments, so that a word in a text is never taken
//! for code; braces then delimit functions and test modules.

/// A Rust file, line by line. All vectors have one entry per line of the file.
#[derive(Debug)]
pub struct Source {
    /// The code of each line, with strings, characters and comments replaced by blanks.
    pub code: Vec<String>,
    /// The comments of each line, with their slashes.
    pub comments: Vec<String>,
    /// Whether each line belongs to an item that exists only in tests.
    pub in_tests: Vec<bool>,
    /// Names of `mod name;` declarations that exist only in tests: their files are test files.
    pub test_modules: Vec<String>,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line its `fn` stands on, from 1.
    pub line: usize,
    /// Lines from `fn` to the closing brace, both included.
    pub length: usize,
}

impl Source {
    /// Takes a file apart.
    pub fn parse(text: &str) -> Source {
        let (code, comments) = Lexer::new(text).split();
        let in_tests = vec![false; code.len()];
        let mut source = Source { code, comments, in_tests, test_modules: Vec::new() };
        source.mark_tests();
        source
    }

    /// Lines of code outside tests, with their numbers from 1.
    pub fn shipped_code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code.iter().zip(&self.in_tests).enumerate();
        lines.filter(|(_, (_, in_tests))| !**in_tests).map(|(index, (code, _))| (index + 1, &**code))
    }

    /// The functions with bodies, in order.
    pub fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for (index, code) in self.code.iter().enumerate() {
            for column in words(code, "fn") {
                let name: String = code[column + 2..].trim_start().chars().take_while(|c| is_word(*c)).collect();
                if name.is_empty() {
                    continue; // a function pointer type
                }
                if let Some((last, '}')) = self.item_end(index, column) {
                    functions.push(Function { name, line: index + 1, length: last - index + 1 });
                }
            }
        }
        functions
    }

    fn mark_tests(&mut self) {
        for index in 0..self.code.len() {
            let Some(column) = test_attribute(&self.code[index]) else {
                continue;
            };
            let Some((last, end)) = self.item_end(index, column) else {
                continue;
            };
            self.in_tests[index..=last].fill(true);
            if end == ';' {
                self.test_modules.extend(module_declared(&self.code[index..=last].join(" ")));
            }
        }
    }

    /// Where the item that starts at a line and column ends, and by which character: the brace that
    /// closes its body, or the semicolon of an item without one.
    fn item_end(&self, line: usize, column: usize) -> Option<(usize, char)> {
        let (mut braces, mut nested) = (0usize, 0usize);
        for (index, code) in self.code.iter().enumerate().skip(line) {
            let start = if index == line { column } else { 0 };
            for c in code[start..].chars() {
                match c {
                    '(' | '[' => nested += 1,
                    ')' | ']' => nested = nested.saturating_sub(1),
                    '{' => braces += 1,
                    '}' if braces <= 1 => return Some((index, '}')),
                    '}' => braces -= 1,
                    ';' if braces == 0 && nested == 0 => return Some((index, ';')),
                    _ => {}
                }
            }
        }
        None
    }
}

/// The columns at which `word` stands in `code` as a whole word.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(column, _)| column).filter(move |column| {
        let before = code[..*column].chars().next_back();
        let after = code[column + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The column of an attribute that keeps its item to tests: `#[test]` or a `cfg` on `test`.
fn test_attribute(code: &str) -> Option<usize> {
    if let Some(column) = code.find("#[test]") {
        return Some(column);
    }
    let column = code.find("#[cfg(")?;
    let condition = &code[column..];
    let negated = condition.contains("not(test");
    (words(condition, "test").next().is_some() && !negated).then_some(column)
}

fn module_declared(item: &str) -> Option<String> {
    let column = words(item, "mod").next()?;
    let name: String = item[column + 3..].trim_start().chars().take_while(|c| is_word(*c)).collect();
    (!name.is_empty()).then_some(name)
}

/// Splits a text into code and comments, keeping lines and columns.
struct Lexer {
    text: Vec<char>,
    at: usize,
    code: Vec<String>,
    comments: Vec<String>,
}

impl Lexer {
    fn new(text: &str) -> Lexer {
        let (code, comments) = (vec![String::new()], vec![String::new()]);
        Lexer { text: text.chars().collect(), at: 0, code, comments }
    }

    fn split(mut self) -> (Vec<String>, Vec<String>) {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', _) if self.starts_raw_string() => self.raw_string(),
                ('\'', _) => self.character_or_lifetime(),
                _ => self.code_character(),
            }
        }
        if self.code.last().is_some_and(String::is_empty) && self.text.last() == Some(&'\n') {
            self.code.pop();
            self.comments.pop();
        }
        (self.code, self.comments)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn push(&mut self, in_code: char, in_comment: char) {
        let (code, comment) = (self.code.last_mut(), self.comments.last_mut());
        code.expect("there is always a line").push(in_code);
        comment.expect("there is always a line").push(in_comment);
    }

    /// Takes one character as code, as comment or as neither.
    fn take(&mut self, part: Part) {
        let Some(c) = self.peek(0) else { return };
        self.at += 1;
        if c == '\n' {
            self.code.push(String::new());
            self.comments.push(String::new());
            return;
        }
        match part {
            Part::Code => self.push(c, ' '),
            Part::Comment => self.push(' ', c),
            Part::Literal => self.push(' ', ' '),
        }
    }

    fn code_character(&mut self) {
        self.take(Part::Code);
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take(Part::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                _ => {
                    self.take(Part::Comment);
                    continue;
                }
            }
            self.take(Part::Comment);
            self.take(Part::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(Part::Literal);
        while let Some(c) = self.peek(0) {
            self.take(Part::Literal);
            match c {
                '\\' => self.take(Part::Literal),
                '"' => return,
                _ => {}
            }
        }
    }

    fn starts_raw_string(&self) -> bool {
        // `br` and `cr` are raw as well; any other word that ends in r is a name.
        let before = self.at.checked_sub(1).map(|at| self.text[at]);
        let in_name = before.is_some_and(|c| is_word(c) && c != 'b' && c != 'c');
        let hashes = (1..).take_while(|ahead| self.peek(*ahead) == Some('#')).count();
        !in_name && self.peek(hashes + 1) == Some('"')
    }

    fn raw_string(&mut self) {
        self.take(Part::Literal);
        let mut hashes = 0;
        while self.peek(0) == Some('#') {
            self.take(Part::Literal);
            hashes += 1;
        }
        self.take(Part::Literal);
        while let Some(c) = self.peek(0) {
            self.take(Part::Literal);
            if c == '"' && (0..hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                (0..hashes).for_each(|_| self.take(Part::Literal));
                return;
            }
        }
    }

    fn character_or_lifetime(&mut self) {
        let is_character = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        if !is_character {
            return self.take(Part::Code);
        }
        self.take(Part::Literal);
        while let Some(c) = self.peek(0) {
            self.take(Part::Literal);
            match c {
                '\\' => self.take(Part::Literal),
                '\'' => return,
                _ => {}
            }
        }
    }
}

enum Part {
    Code,
    Comment,
    Literal,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of a text, runs of blanks squeezed to one.
    fn code_of(text: &str) -> String {
        let code = Source::parse(text).code.join(" ");
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        assert_eq!(code_of("let a = \"unsafe \\\" x\"; // unsafe\nb"), "let a = ; b");
        assert_eq!(code_of("a /* x /* y */ z */ b"), "a b");
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        assert_eq!(code_of("f(r#\"a\"b\"#) g"), "f( ) g");
        assert_eq!(code_of("f(br\"\\\") g"), "f(b ) g");
        assert_eq!(code_of("for r in var { \"x\" }"), "for r in var { }");
    }

    #[test]
    fn lifetimes_are_code_and_characters_are_not() {
        assert_eq!(code_of("fn f<'a>(x: &'a str) { '{' }"), "fn f<'a>(x: &'a str) { }");
        assert_eq!(code_of("'\\'' '\\u{7f}' x"), "x");
    }

    #[test]
    fn columns_are_kept() {
        assert_eq!(Source::parse("a(\"b\") // c").code, ["a(   )     "]);
        assert_eq!(Source::parse("a(\"b\") // c").comments, ["       // c"]);
    }

    #[test]
    fn lines_are_kept_through_strings_and_comments() {
        let source = Source::parse("a\n\"x\ny\"\n/* p\nq */ b\n");
        assert_eq!(source.code.len(), 5);
        assert_eq!(source.code[4].trim(), "b");
        assert_eq!(source.comments[3].trim(), "/* p");
    }

    #[test]
    fn a_test_module_is_marked_to_its_closing_brace() {
        let source = Source::parse("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n");
        assert_eq!(source.in_tests, [false, true, true, true, true, false]);
        let shipped: Vec<usize> = source.shipped_code().map(|(line, _)| line).collect();
        assert_eq!(shipped, [1, 6]);
    }

    #[test]
    fn a_condition_that_excludes_tests_is_not_a_test() {
        let source = Source::parse("#[cfg(not(test))]\nfn a() {}\n");
        assert_eq!(source.in_tests, [false, false]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_named() {
        let source = Source::parse("#[cfg(test)]\nmod random_kernels;\nfn a() {}\n");
        assert_eq!(source.test_modules, ["random_kernels"]);
        assert_eq!(source.in_tests, [true, true, false]);
    }

    #[test]
    fn functions_are_measured_from_their_name_to_the_closing_brace() {
        let text = "pub fn a(x: [u8; 4]) -> u8 {\n    if x[0] > 1 { 1 } else { 2 }\n}\n\ntrait T {\n    fn b();\n}\n";
        let expected = [Function { name: "a".into(), line: 1, length: 3 }];
        assert_eq!(Source::parse(text).functions(), expected);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(words("fn of fn_ fn", "fn").collect::<Vec<_>>(), [0, 10]);
    }
}
