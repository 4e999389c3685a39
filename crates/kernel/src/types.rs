//! What values are computed in (`Scalar`, `Type`) and what they are stored as (`Elem`).
//!
//! The two are separate on purpose: a bf16 buffer is read into f32 values, an i8 buffer into 32-bit integers. Arithmetic
//! never happens in a narrow type; `narrow` says where a value must be rounded or wrapped as if it had been stored.

/// What one component of a value is computed in. Integers carry no sign; the operations do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scalar {
    /// True or false.
    Bool,
    /// 32-bit integer, wrapping.
    I32,
    /// 64-bit integer, wrapping.
    I64,
    /// IEEE 754 binary32 with denormals, rounding to nearest even.
    F32,
    /// IEEE 754 binary64, where the device has it.
    F64,
}

impl Scalar {
    /// Size in bytes of one component; a bool counts as four, the size of its argument slot.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether this is an integer type (bool is not).
    pub fn is_int(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::I64)
    }

    /// The storage type that keeps all its values.
    pub fn storage(self) -> Elem {
        match self {
            Scalar::Bool => Elem::Bool,
            Scalar::I32 => Elem::I32,
            Scalar::I64 => Elem::I64,
            Scalar::F32 => Elem::F32,
            Scalar::F64 => Elem::F64,
        }
    }

    /// The type's name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }
}

/// What an element of a buffer, or of an array in shared or private memory, is stored as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Elem {
    /// One byte, 0 or 1.
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    BF16,
    F32,
    F64,
    /// Two f32: real part, imaginary part.
    C64,
}

impl Elem {
    /// Every storage type, narrowest first within its kind.
    pub const ALL: [Elem; 14] = [
        Elem::Bool,
        Elem::I8,
        Elem::U8,
        Elem::I16,
        Elem::U16,
        Elem::I32,
        Elem::U32,
        Elem::I64,
        Elem::U64,
        Elem::F16,
        Elem::BF16,
        Elem::F32,
        Elem::F64,
        Elem::C64,
    ];

    /// Size in bytes in memory.
    pub fn bytes(self) -> usize {
        match self {
            Elem::Bool | Elem::I8 | Elem::U8 => 1,
            Elem::I16 | Elem::U16 | Elem::F16 | Elem::BF16 => 2,
            Elem::I32 | Elem::U32 | Elem::F32 => 4,
            Elem::I64 | Elem::U64 | Elem::F64 | Elem::C64 => 8,
        }
    }

    /// The type a loaded element has, and a stored value must have.
    pub fn compute(self) -> Type {
        match self {
            Elem::Bool => Type::BOOL,
            Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16 | Elem::I32 | Elem::U32 => Type::I32,
            Elem::I64 | Elem::U64 => Type::I64,
            Elem::F16 | Elem::BF16 | Elem::F32 => Type::F32,
            Elem::F64 => Type::F64,
            Elem::C64 => Type::Vector(Scalar::F32, 2),
        }
    }

    /// Whether narrow loads of this integer type extend the sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    /// The type's name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            Elem::Bool => "bool",
            Elem::I8 => "i8",
            Elem::U8 => "u8",
            Elem::I16 => "i16",
            Elem::U16 => "u16",
            Elem::I32 => "i32",
            Elem::U32 => "u32",
            Elem::I64 => "i64",
            Elem::U64 => "u64",
            Elem::F16 => "f16",
            Elem::BF16 => "bf16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
            Elem::C64 => "c64",
        }
    }
}

/// The type of an SSA value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// One component.
    Scalar(Scalar),
    /// Two or four components.
    Vector(Scalar, u8),
    /// A cooperative matrix, held together by a subgroup or a workgroup.
    Matrix(Matrix),
}

impl Type {
    /// Shorthand for the scalar type.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    /// Shorthand for the scalar type.
    pub const I32: Type = Type::Scalar(Scalar::I32);
    /// Shorthand for the scalar type.
    pub const I64: Type = Type::Scalar(Scalar::I64);
    /// Shorthand for the scalar type.
    pub const F32: Type = Type::Scalar(Scalar::F32);
    /// Shorthand for the scalar type.
    pub const F64: Type = Type::Scalar(Scalar::F64);

    /// The component type; none for a matrix.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) | Type::Vector(s, _) => Some(s),
            Type::Matrix(_) => None,
        }
    }

    /// Number of components: 1 for a scalar; 0 for a matrix, whose components are spread over invocations.
    pub fn lanes(self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(_, n) => n as usize,
            Type::Matrix(_) => 0,
        }
    }

    /// The same number of components of another scalar type. A matrix stays as it is.
    pub fn with_scalar(self, scalar: Scalar) -> Type {
        match self {
            Type::Scalar(_) => Type::Scalar(scalar),
            Type::Vector(_, n) => Type::Vector(scalar, n),
            Type::Matrix(m) => Type::Matrix(m),
        }
    }

    /// Whether this is a single bool.
    pub fn is_bool(self) -> bool {
        self == Type::BOOL
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Scalar(s) => f.write_str(s.name()),
            Type::Vector(s, n) => write!(f, "{}x{n}", s.name()),
            Type::Matrix(m) => {
                write!(f, "matrix<{}, {}x{}, {}, {}>", m.elem.name(), m.rows, m.cols, m.role.name(), m.scope.name())
            }
        }
    }
}

/// A cooperative matrix type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Matrix {
    /// Which invocations hold it together.
    pub scope: MatrixScope,
    /// Component type: F16, BF16, F32, I8, U8 or I32.
    pub elem: Elem,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// Its place in `A * B + C`.
    pub role: MatrixRole,
}

/// Which invocations hold a cooperative matrix together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatrixScope {
    /// A subgroup (VK_KHR_cooperative_matrix).
    Subgroup,
    /// The whole workgroup (VK_NV_cooperative_matrix2).
    Workgroup,
}

impl MatrixScope {
    /// The scope's name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            MatrixScope::Subgroup => "subgroup",
            MatrixScope::Workgroup => "workgroup",
        }
    }
}

/// A cooperative matrix's place in `A * B + C`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatrixRole {
    /// The left factor, m × k.
    A,
    /// The right factor, k × n.
    B,
    /// What is added to, and the result, m × n.
    Accumulator,
}

impl MatrixRole {
    /// The role's name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            MatrixRole::A => "a",
            MatrixRole::B => "b",
            MatrixRole::Accumulator => "acc",
        }
    }
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatrixLayout {
    /// Rows are contiguous.
    RowMajor,
    /// Columns are contiguous.
    ColumnMajor,
}
