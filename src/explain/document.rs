//! Reads proof documents, which may come from anywhere.
//!
//! Nothing here recurses, and nothing is accepted that a proof document does not have: an unknown or doubled field is
//! an error, as is anything behind the document.

/// A proof document as it was read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) goal: String,
    pub(super) policy_hash: String,
    /// In the order in which they begin; the conclusion first.
    pub(super) nodes: Vec<Node>,
}

/// One node of a document.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) fact: Option<String>,
    pub(super) absent: Option<String>,
    pub(super) builtin: Option<String>,
    pub(super) clause: Option<Clause>,
    /// Positions among the nodes, greater than its own.
    pub(super) because: Option<Vec<usize>>,
}

/// Where a node says that its clause stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) text: String,
}

type Read<T> = Result<T, String>;

/// Reads a document.
///
/// # Errors
/// What is wrong with it, and at which byte.
pub(super) fn read(text: &str) -> Read<Document> {
    let mut reader = Reader { text, at: 0 };
    reader
        .document()
        .map_err(|problem| format!("at byte {}: {problem}", reader.at))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Read<Document> {
        let (mut goal, mut holds, mut nodes, mut policy_hash) = (None, None, None, None);
        self.expect(b'{')?;
        let mut first = true;
        while let Some(field) = self.field(first)? {
            first = false;
            match &*field {
                "goal" => set(&mut goal, &field, self.string()?)?,
                "policy_hash" => set(&mut policy_hash, &field, self.string()?)?,
                "proof" => set(&mut nodes, &field, self.nodes()?)?,
                "holds" if self.word("true") => set(&mut holds, &field, ())?,
                "holds" if self.word("false") => {
                    return Err("it says that the goal does not hold, which needs no proof".into());
                }
                "holds" => return Err("`holds` is true in a proof".to_owned()),
                _ => return Err(format!("`{field}` is no field of a proof document")),
            }
        }
        if self.peek().is_some() {
            return Err("something follows the document".to_owned());
        }
        get(holds, "holds")?;
        Ok(Document {
            goal: get(goal, "goal")?,
            policy_hash: get(policy_hash, "policy_hash")?,
            nodes: get(nodes, "proof")?,
        })
    }

    /// A node and all below it.
    fn nodes(&mut self) -> Read<Vec<Node>> {
        self.expect(b'{')?;
        let mut nodes = vec![Node::default()];
        // The nodes that are open, each with whether its reasons are being read.
        let mut path = vec![(0, false)];
        while let Some((at, in_reasons)) = path.last_mut() {
            let next = nodes.len();
            let Some(node) = nodes.get_mut(*at) else {
                return Err("too many nodes".to_owned());
            };
            let next = if *in_reasons {
                let reasons = node.because.get_or_insert_default();
                match (self.peek(), reasons.is_empty()) {
                    (Some(b']'), _) => {
                        self.at += 1;
                        *in_reasons = false;
                        continue;
                    }
                    (_, true) => {}
                    (_, false) => self.expect(b',')?,
                }
                self.expect(b'{')?;
                reasons.push(next);
                next
            } else {
                match self.field(node.is_new())? {
                    None => {
                        node.check()?;
                        path.pop();
                    }
                    Some(field) if field == "because" => {
                        set(&mut node.because, &field, Vec::new())?;
                        self.expect(b'[')?;
                        *in_reasons = true;
                    }
                    Some(field) => self.fill(node, &field)?,
                }
                continue;
            };
            nodes.push(Node::default());
            path.push((next, false));
        }
        Ok(nodes)
    }

    fn fill(&mut self, node: &mut Node, field: &str) -> Read<()> {
        match field {
            "fact" => set(&mut node.fact, field, self.string()?),
            "absent" => set(&mut node.absent, field, self.string()?),
            "builtin" => set(&mut node.builtin, field, self.string()?),
            "clause" => set(&mut node.clause, field, self.clause()?),
            _ => Err(format!("`{field}` is no field of a node")),
        }
    }

    fn clause(&mut self) -> Read<Clause> {
        let (mut file, mut line, mut column, mut text) = (None, None, None, None);
        self.expect(b'{')?;
        let mut first = true;
        while let Some(field) = self.field(first)? {
            first = false;
            match &*field {
                "file" => set(&mut file, &field, self.string()?)?,
                "line" => set(&mut line, &field, self.number()?)?,
                "column" => set(&mut column, &field, self.number()?)?,
                "text" => set(&mut text, &field, self.string()?)?,
                _ => return Err(format!("`{field}` is no field of a clause")),
            }
        }
        Ok(Clause {
            file: get(file, "file")?,
            line: get(line, "line")?,
            column: get(column, "column")?,
            text: get(text, "text")?,
        })
    }

    /// The name of the next field, its colon read, too; `None` behind the last.
    fn field(&mut self, first: bool) -> Read<Option<String>> {
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(None);
        }
        if !first {
            self.expect(b',')?;
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(Some(name))
    }

    /// The next byte behind blanks.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(blank).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, wanted: u8) -> Read<()> {
        if self.peek() == Some(wanted) {
            self.at += 1;
            return Ok(());
        }
        Err(format!("`{}` is missing", char::from(wanted)))
    }

    fn word(&mut self, word: &str) -> bool {
        self.peek();
        let found = self
            .text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word));
        if found {
            self.at += word.len();
        }
        found
    }

    fn number(&mut self) -> Read<u64> {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or("");
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = rest.get(..length).unwrap_or("");
        self.at += length;
        let leading_zero = length > 1 && digits.starts_with('0');
        digits
            .parse()
            .ok()
            .filter(|_| !leading_zero)
            .ok_or_else(|| "a whole number is missing".to_owned())
    }

    fn string(&mut self) -> Read<String> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let plain = rest
                .find(|c: char| matches!(c, '"' | '\\' | '\0'..='\u{1f}'))
                .ok_or("a string does not end")?;
            out.push_str(rest.get(..plain).unwrap_or(""));
            self.at += plain + 1;
            match rest.as_bytes().get(plain) {
                Some(b'"') => return Ok(out),
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err("a control character in a string".to_owned()),
            }
        }
    }

    /// The character of an escape, behind its backslash.
    fn escape(&mut self) -> Read<char> {
        let kind = self.text.as_bytes().get(self.at).copied();
        self.at += 1;
        Ok(match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.unit()?;
                let rest = self.text.get(self.at..).unwrap_or("");
                let pair = match high {
                    0xd800..=0xdbff if rest.starts_with("\\u") => {
                        self.at += 2;
                        vec![high, self.unit()?]
                    }
                    _ => vec![high],
                };
                let mut decoded = char::decode_utf16(pair);
                match (decoded.next(), decoded.next()) {
                    (Some(Ok(c)), None) => c,
                    _ => return Err("half of a surrogate pair in a string".to_owned()),
                }
            }
            _ => {
                self.at -= 1;
                return Err("an escape that JSON does not have".to_owned());
            }
        })
    }

    fn unit(&mut self) -> Read<u16> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or("");
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.at += digits.len();
        u16::from_str_radix(digits, 16)
            .ok()
            .filter(|_| plain)
            .ok_or_else(|| "four hexadecimal digits are missing".to_owned())
    }
}

impl Node {
    fn is_new(&self) -> bool {
        let texts = [&self.fact, &self.absent, &self.builtin];
        texts.iter().all(|text| text.is_none()) && self.clause.is_none() && self.because.is_none()
    }

    /// Whether the node has one claim and what belongs to it.
    fn check(&self) -> Read<()> {
        let texts = [&self.fact, &self.absent, &self.builtin];
        if texts.iter().filter(|text| text.is_some()).count() != 1 {
            return Err("a node is one of `fact`, `absent` and `builtin`".to_owned());
        }
        if self.fact.is_none() && (self.clause.is_some() || self.because.is_some()) {
            return Err("only a fact has `clause` and `because`".to_owned());
        }
        Ok(())
    }
}

fn set<T>(slot: &mut Option<T>, field: &str, value: T) -> Read<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("`{field}` stands there twice")),
    }
}

fn get<T>(slot: Option<T>, field: &str) -> Read<T> {
    slot.ok_or_else(|| format!("`{field}` is missing"))
}
