//! Facts by hand: a byte scanner that numbers names, the least that any engine pays for reading text.
//!
//! Nothing here checks what it reads; it is for the texts that the workloads make.

use rustc_hash::FxHashMap;

/// Facts by predicate, each with one or two arguments; a missing one is 0.
pub type Relations = FxHashMap<String, Vec<(u32, u32)>>;

/// The numbers of the names.
#[derive(Default)]
pub struct Names {
    numbers: FxHashMap<Box<[u8]>, u32>,
}

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.into(), number);
        number
    }

    /// The number of a name that was read.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }
}

/// Reads facts such as `name('A', b).`
pub fn scan(text: &[u8], names: &mut Names) -> Relations {
    let mut relations = Relations::default();
    let mut name: &[u8] = b"";
    let mut rows: Vec<(u32, u32)> = Vec::new();
    let mut at = 0;
    let until = |from: usize, stop: &[u8]| {
        (from..text.len())
            .find(|at| stop.contains(&text[*at]))
            .unwrap_or(text.len())
    };
    loop {
        while at < text.len() && text[at].is_ascii_whitespace() {
            at += 1;
        }
        if at == text.len() {
            break;
        }
        let open = until(at, b"(");
        if &text[at..open] != name {
            finish(&mut relations, name, &mut rows);
            name = &text[at..open];
        }
        at = open + 1;
        let mut row = [0; 2];
        for cell in &mut row {
            while text[at] == b' ' {
                at += 1;
            }
            let (start, end) = if text[at] == b'\'' {
                (at + 1, until(at + 1, b"'"))
            } else {
                (at, until(at, b",)"))
            };
            *cell = names.number(&text[start..end]);
            at = until(end, b",)") + 1;
            if text[at - 1] == b')' {
                break;
            }
        }
        rows.push((row[0], row[1]));
        at = until(at, b".") + 1;
    }
    finish(&mut relations, name, &mut rows);
    relations
}

fn finish(relations: &mut Relations, name: &[u8], rows: &mut Vec<(u32, u32)>) {
    if !rows.is_empty() {
        let name = String::from_utf8_lossy(name).into_owned();
        relations.entry(name).or_default().append(rows);
    }
}
