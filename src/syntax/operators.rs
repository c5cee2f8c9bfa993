//! SWI-Prolog's default operator table, which is fixed here.
//!
//! Nothing here changes: `op/3` is refused wherever it stands. The grammar has no place for three of the operators, `|`,
//! `$` and the dot of dicts: they are here for the printer's sake, and because they need brackets as atoms.

/// How an operator binds its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Prefix; the operand binds more tightly.
    Fx,
    /// Prefix; the operand may be of the same priority.
    Fy,
    /// Infix; both operands bind more tightly.
    Xfx,
    /// Infix; the right operand may be of the same priority.
    Xfy,
    /// Infix; the left operand may be of the same priority.
    Yfx,
}

/// An operator's priority and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// From 1, which binds tightest, to 1200.
    pub priority: u16,
    /// How it binds its operands.
    pub kind: Kind,
}

impl Operator {
    const fn new(priority: u16, kind: Kind) -> Option<Self> {
        Some(Self { priority, kind })
    }

    /// The highest priority that the left operand may have; 0 for a prefix operator.
    #[must_use]
    pub fn left(self) -> u16 {
        match self.kind {
            Kind::Fx | Kind::Fy => 0,
            Kind::Xfx | Kind::Xfy => self.priority - 1,
            Kind::Yfx => self.priority,
        }
    }

    /// The highest priority that the right operand may have.
    #[must_use]
    pub fn right(self) -> u16 {
        match self.kind {
            Kind::Fx | Kind::Xfx | Kind::Yfx => self.priority - 1,
            Kind::Fy | Kind::Xfy => self.priority,
        }
    }
}

/// `name` as a prefix operator.
///
/// ```
/// use horngate::syntax::operators::prefix;
/// assert_eq!(prefix("\\+").unwrap().priority, 900);
/// assert!(prefix("not").is_none());
/// ```
#[must_use]
pub fn prefix(name: &str) -> Option<Operator> {
    match name {
        ":-" | "?-" => Operator::new(1200, Kind::Fx),
        "discontiguous"
        | "dynamic"
        | "initialization"
        | "meta_predicate"
        | "module_transparent"
        | "multifile"
        | "public"
        | "table"
        | "thread_initialization"
        | "thread_local"
        | "volatile" => Operator::new(1150, Kind::Fx),
        "\\+" => Operator::new(900, Kind::Fy),
        "+" | "-" | "\\" => Operator::new(200, Kind::Fy),
        "$" => Operator::new(1, Kind::Fx),
        _ => None,
    }
}

/// `name` as an infix operator.
///
/// ```
/// use horngate::syntax::operators::infix;
/// assert_eq!(infix("is").unwrap().priority, 700);
/// assert!(infix("and").is_none());
/// ```
#[must_use]
pub fn infix(name: &str) -> Option<Operator> {
    match name {
        ":-" | "-->" | "=>" => Operator::new(1200, Kind::Xfx),
        "|" => Operator::new(1105, Kind::Xfy),
        ";" => Operator::new(1100, Kind::Xfy),
        "->" | "*->" => Operator::new(1050, Kind::Xfy),
        "," => Operator::new(1000, Kind::Xfy),
        ":=" => Operator::new(800, Kind::Xfx),
        ":<" | "<" | "=" | "=.." | "=:=" | "=<" | "==" | "=@=" | "=\\=" | ">" | ">:<" | ">="
        | "@<" | "@=<" | "@>" | "@>=" | "\\=" | "\\==" | "\\=@=" | "as" | "is" => {
            Operator::new(700, Kind::Xfx)
        }
        ":" => Operator::new(600, Kind::Xfy),
        "+" | "-" | "/\\" | "\\/" => Operator::new(500, Kind::Yfx),
        "*" | "/" | "//" | "<<" | ">>" | "div" | "mod" | "rdiv" | "rem" | "xor" => {
            Operator::new(400, Kind::Yfx)
        }
        "**" => Operator::new(200, Kind::Xfx),
        "^" => Operator::new(200, Kind::Xfy),
        "." => Operator::new(100, Kind::Yfx),
        _ => None,
    }
}

/// Whether `name` is an operator of any kind.
#[must_use]
pub fn is_operator(name: &str) -> bool {
    prefix(name).is_some() || infix(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_of_operands() {
        let minus = infix("-").unwrap();
        assert_eq!((minus.left(), minus.right()), (500, 499));
        let neck = prefix(":-").unwrap();
        assert_eq!((neck.left(), neck.right()), (0, 1199));
        let caret = infix("^").unwrap();
        assert_eq!((caret.left(), caret.right()), (199, 200));
        assert!(infix("and").is_none() && is_operator("$"));
    }
}
