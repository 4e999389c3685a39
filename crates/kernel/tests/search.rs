//! Search spaces: enumeration, rules, keys, neighbours.

use pumice_kernel::search::{Choice, Space};

fn tiles() -> Space {
    Space::new()
        .axis("m", [64, 128, 256])
        .axis("n", [64, 128, 256])
        .axis("k", [16, 32])
        .require("both tiles fit 48 KiB", |c| (c.get("m") + c.get("n")) * c.get("k") * 4 <= 48 << 10)
}

fn texts(choices: &[Choice]) -> Vec<String> {
    choices.iter().map(Choice::to_string).collect()
}

#[test]
fn candidates_keep_the_rules_and_come_in_order() {
    let all = tiles().candidates();
    // All nine pairs with k = 16; with k = 32 all but 256 + 256.
    assert_eq!(all.len(), 17);
    assert_eq!(all[0].to_string(), "m=64,n=64,k=16");
    assert_eq!(all[1].to_string(), "m=64,n=64,k=32");
    assert!(all.is_sorted());
    assert_eq!(tiles().first().as_ref(), all.first());
}

#[test]
fn a_rule_is_named_by_what_it_says() {
    let large = Choice::of(&[("m", 256), ("n", 256), ("k", 32)]);
    assert_eq!(tiles().broken_rule(&large), Some("both tiles fit 48 KiB"));
    assert!(!tiles().contains(&large));
    assert!(format!("{:?}", tiles()).contains("both tiles fit 48 KiB"));
}

#[test]
fn neighbours_are_one_step_away_along_one_axis() {
    let at = tiles().parse("m=128,n=256,k=16").expect("is valid");
    let expected = ["m=64,n=256,k=16", "m=256,n=256,k=16", "m=128,n=128,k=16", "m=128,n=256,k=32"];
    assert_eq!(texts(&tiles().neighbours(&at)), expected);
    let corner = tiles().parse("m=64,n=64,k=16").expect("is valid");
    assert_eq!(tiles().neighbours(&corner).len(), 3);
}

#[test]
fn climbing_reaches_every_candidate() {
    let space = tiles();
    let mut reached = vec![space.first().expect("has candidates")];
    let mut next = 0;
    while next < reached.len() {
        for choice in space.neighbours(&reached[next]) {
            if !reached.contains(&choice) {
                reached.push(choice);
            }
        }
        next += 1;
    }
    assert_eq!(reached.len(), space.candidates().len());
}

#[test]
fn keys_read_back() {
    for choice in tiles().candidates() {
        assert_eq!(tiles().parse(&choice.to_string()), Some(choice));
    }
}

#[test]
fn keys_of_other_spaces_are_refused() {
    for key in ["", "m=64,n=64", "m=64,n=64,j=16", "m=65,n=64,k=16", "m=256,n=256,k=32", "m=64,n=64,k=x"] {
        assert_eq!(tiles().parse(key), None, "{key}");
    }
    assert!(tiles().neighbours(&Choice::of(&[("m", 64)])).is_empty());
}

#[test]
fn an_empty_space_has_one_choice() {
    let only = Space::new().candidates();
    assert_eq!(texts(&only), [""]);
    assert_eq!(Space::new().parse(""), Some(only[0].clone()));
}

#[test]
fn a_space_without_valid_choices_has_none() {
    let none = Space::new().axis("x", [1]).require("never", |_| false);
    assert_eq!((none.candidates().len(), none.first()), (0, None));
}

#[test]
#[should_panic(expected = "[search] depth must be one of")]
fn an_unknown_axis_panics_with_a_reason() {
    Choice::of(&[("m", 64)]).get("depth");
}
