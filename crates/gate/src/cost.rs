//! What checking arguments against a schema may cost, counted before anything is checked.
//!
//! Nothing here says whether arguments are valid, and nothing takes longer than the budget that it guards: what applies
//! to one value is counted once, with the number of ways that lead to it.

use crate::schema::{DATA, IN_PLACE, find, parts};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many steps one check may take: less than a second.
pub(crate) const MAX_STEPS: u64 = 4_000_000;

/// How many bytes of text one state of a pattern reads in a step.
const BYTES_A_STEP: u64 = 64;
/// The most states that a pattern is taken to have.
const MAX_STATES: u64 = 100_000;
/// How often items of short lists are compared with one another, when none may occur twice.
const COMPARED: u64 = 16;

/// The checking of arguments would take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// A schema as a graph: what applies to a value, and what to its parts.
#[derive(Debug)]
pub(crate) struct Cost {
    /// Those that apply to the same value stand behind what refers to them.
    nodes: Vec<Node>,
    root: usize,
    /// At most so many steps for each byte of the arguments; unknown where a schema recurs or looks again.
    each_byte: Option<u64>,
}

#[derive(Debug, Default)]
struct Node {
    own: u64,
    /// The states of its patterns.
    states: u64,
    unique: bool,
    /// It asks again what else applied (`unevaluatedProperties`).
    again: bool,
    in_place: Vec<usize>,
    properties: BTreeMap<String, usize>,
    /// For every member, whatever its name.
    members: Vec<usize>,
    /// For members that are not named.
    others: Vec<usize>,
    names: Vec<usize>,
    prefix: Vec<usize>,
    items: Vec<usize>,
}

impl Node {
    fn edges(&self) -> impl Iterator<Item = usize> {
        self.in_place
            .iter()
            .chain(self.properties.values())
            .chain(&self.members)
            .chain(&self.others)
            .chain(&self.names)
            .chain(&self.prefix)
            .chain(&self.items)
            .copied()
    }

    fn edges_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        self.in_place
            .iter_mut()
            .chain(self.properties.values_mut())
            .chain(&mut self.members)
            .chain(&mut self.others)
            .chain(&mut self.names)
            .chain(&mut self.prefix)
            .chain(&mut self.items)
    }

    fn goes_into_objects(&self) -> bool {
        !(self.properties.is_empty()
            && self.members.is_empty()
            && self.others.is_empty()
            && self.names.is_empty())
    }

    fn goes_into_lists(&self) -> bool {
        !(self.prefix.is_empty() && self.items.is_empty())
    }
}

/// Reads a schema, part by part.
struct Reader<'s> {
    root: &'s Value,
    numbers: BTreeMap<*const Value, usize>,
    nodes: Vec<Node>,
    todo: Vec<(usize, &'s Value)>,
}

impl<'s> Reader<'s> {
    /// The number of a part. `true` and `false` cost nothing and have none.
    fn number(&mut self, schema: &'s Value) -> Option<usize> {
        schema.as_object()?;
        let next = self.nodes.len();
        let number = *self
            .numbers
            .entry(std::ptr::from_ref(schema))
            .or_insert(next);
        if number == next {
            self.nodes.push(Node::default());
            self.todo.push((number, schema));
        }
        Some(number)
    }

    fn each(&mut self, schema: &'s Value) -> Vec<usize> {
        match schema {
            Value::Array(items) => items.iter().filter_map(|item| self.number(item)).collect(),
            Value::Object(_) => self.number(schema).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn each_value(&mut self, schemas: &'s Value) -> Vec<usize> {
        let map = schemas.as_object().into_iter().flatten();
        map.filter_map(|(_, schema)| self.number(schema)).collect()
    }

    fn read(&mut self, schema: &'s Value) -> Node {
        let mut node = Node {
            own: 1,
            ..Node::default()
        };
        for (key, value) in schema.as_object().into_iter().flatten() {
            node.own = node.own.saturating_add(1);
            match key.as_str() {
                "$ref" => {
                    let target = value.as_str().and_then(|target| find(self.root, target));
                    node.in_place
                        .extend(target.and_then(|target| self.number(target)));
                }
                key if IN_PLACE.contains(&key) => {
                    for part in parts(key, value) {
                        node.in_place.extend(self.number(part));
                    }
                }
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        if let Some(number) = self.number(schema) {
                            node.properties.insert(name.clone(), number);
                        }
                    }
                }
                "patternProperties" => {
                    for name in value.as_object().into_iter().flat_map(|map| map.keys()) {
                        node.states = node.states.saturating_add(states(name));
                    }
                    node.members.extend(self.each_value(value));
                }
                "additionalProperties" => node.others.extend(self.number(value)),
                "unevaluatedProperties" => {
                    node.again = true;
                    node.others.extend(self.number(value));
                }
                "propertyNames" => node.names.extend(self.number(value)),
                "prefixItems" => node.prefix.extend(self.each(value)),
                "items" if value.is_array() => node.prefix.extend(self.each(value)),
                "items" | "additionalItems" | "contains" => node.items.extend(self.number(value)),
                "unevaluatedItems" => {
                    node.again = true;
                    node.items.extend(self.number(value));
                }
                "pattern" => {
                    let pattern = value.as_str().unwrap_or_default();
                    node.states = node.states.saturating_add(states(pattern));
                }
                "format" => node.states = node.states.saturating_add(BYTES_A_STEP),
                "uniqueItems" => node.unique = value == &Value::Bool(true),
                key if DATA.contains(&key) || key == "required" || key == "dependentRequired" => {
                    node.own = node.own.saturating_add(size(value));
                }
                _ => {}
            }
        }
        node
    }
}

impl Cost {
    /// Reads a schema whose references lead somewhere, and never back to where they started without going into the value.
    pub(crate) fn of(schema: &Value) -> Self {
        let mut reader = Reader {
            root: schema,
            numbers: BTreeMap::new(),
            nodes: Vec::new(),
            todo: Vec::new(),
        };
        reader.number(schema);
        while let Some((number, schema)) = reader.todo.pop() {
            let node = reader.read(schema);
            if let Some(slot) = reader.nodes.get_mut(number) {
                *slot = node;
            }
        }
        let nodes = reader.nodes;
        let order = sorted(&nodes, |node| node.in_place.clone());
        let mut rank = vec![0; nodes.len()];
        for (place, number) in order.iter().enumerate() {
            if let Some(slot) = rank.get_mut(*number) {
                *slot = place;
            }
        }
        let renamed = |number: usize| rank.get(number).copied().unwrap_or(0);
        let mut placed: Vec<(usize, Node)> = nodes.into_iter().enumerate().collect();
        placed.sort_by_key(|(number, _)| renamed(*number));
        let mut nodes: Vec<Node> = placed
            .into_iter()
            .map(|(_, mut node)| {
                node.edges_mut().for_each(|edge| *edge = renamed(*edge));
                node
            })
            .collect();
        absorb(&mut nodes);
        Self {
            root: renamed(0),
            each_byte: each_byte(&nodes, renamed(0)),
            nodes,
        }
    }

    /// How many steps a check takes at the most; `bytes` is the length of the value's text.
    pub(crate) fn steps(&self, value: &Value, bytes: usize) -> Result<u64, TooMuch> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let bound = self.each_byte.map(|each| each.saturating_mul(bytes));
        if let Some(bound) = bound.filter(|bound| *bound <= MAX_STEPS) {
            return Ok(bound);
        }
        let mut meter = Meter {
            nodes: &self.nodes,
            steps: 0,
        };
        meter.walk(value, BTreeMap::from([(self.root, 1)]))?;
        Ok(meter.steps)
    }
}

/// Adds what costs always the same to what refers to it.
fn absorb(nodes: &mut [Node]) {
    for number in (0..nodes.len()).rev() {
        let Some((node, behind)) = nodes.get_mut(number..).and_then(<[Node]>::split_first_mut)
        else {
            continue;
        };
        if node.again {
            continue;
        }
        let Node { own, in_place, .. } = node;
        in_place.retain(|edge| {
            let part = edge
                .checked_sub(number + 1)
                .and_then(|place| behind.get(place));
            let fixed = part
                .filter(|part| part.states == 0 && !part.unique && part.edges().next().is_none());
            *own = own.saturating_add(fixed.map_or(0, |part| part.own));
            fixed.is_none()
        });
    }
}

/// The nodes so that each stands before those that it leads to; without those on a cycle and behind one.
fn sorted(nodes: &[Node], edges: impl Fn(&Node) -> Vec<usize>) -> Vec<usize> {
    let mut waiting = vec![0_u64; nodes.len()];
    for edge in nodes.iter().flat_map(&edges) {
        if let Some(count) = waiting.get_mut(edge) {
            *count += 1;
        }
    }
    let free = waiting.iter().enumerate().filter(|(_, count)| **count == 0);
    let mut order: Vec<usize> = free.map(|(number, _)| number).collect();
    let mut next = 0;
    while let Some(node) = order.get(next).and_then(|number| nodes.get(*number)) {
        next += 1;
        for edge in edges(node) {
            if let Some(count) = waiting.get_mut(edge) {
                *count -= 1;
                if *count == 0 {
                    order.push(edge);
                }
            }
        }
    }
    order
}

/// The sum over all ways through a schema that does not recur.
fn each_byte(nodes: &[Node], root: usize) -> Option<u64> {
    let order = sorted(nodes, |node| node.edges().collect());
    if order.len() < nodes.len() || nodes.iter().any(|node| node.again || node.unique) {
        return None;
    }
    let mut sums = vec![0_u64; nodes.len()];
    for number in order.into_iter().rev() {
        let node = nodes.get(number)?;
        let below = node.edges().filter_map(|edge| sums.get(edge));
        let sum = below.fold(node.own.saturating_add(node.states), |sum, more| {
            sum.saturating_add(*more)
        });
        *sums.get_mut(number)? = sum;
    }
    sums.get(root).copied()
}

struct Meter<'c> {
    nodes: &'c [Node],
    steps: u64,
}

/// How often each node applies to one value.
type Active = BTreeMap<usize, u64>;

fn add(active: &mut Active, node: usize, times: u64) {
    let slot = active.entry(node).or_default();
    *slot = slot.saturating_add(times);
}

fn length(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

impl<'c> Meter<'c> {
    fn charge(&mut self, times: u64, steps: u64) -> Result<(), TooMuch> {
        self.steps = self.steps.saturating_add(times.saturating_mul(steps));
        match self.steps > MAX_STEPS {
            true => Err(TooMuch),
            false => Ok(()),
        }
    }

    /// Arguments nest no deeper than their reader allows.
    fn walk(&mut self, value: &Value, mut active: Active) -> Result<(), TooMuch> {
        let (parts, text) = match value {
            Value::Object(map) => (map.len(), map.keys().map(String::len).sum()),
            Value::Array(items) => (items.len(), 0),
            Value::String(text) => (0, text.len()),
            _ => (0, 0),
        };
        let (parts, text) = (length(parts), length(text));
        let mut inward: Vec<(&'c Node, u64)> = Vec::new();
        while let Some((number, times)) = active.pop_first() {
            let Some(node) = self.nodes.get(number) else {
                continue;
            };
            self.charge(times, node.own)?;
            if node.states > 0 {
                self.charge(times, node.states.saturating_mul(text) / BYTES_A_STEP + 1)?;
            }
            if node.unique && value.is_array() {
                self.charge(times, COMPARED.saturating_mul(size(value)))?;
            }
            let again = match node.again {
                true => parts.saturating_add(1).saturating_mul(2),
                false => 1,
            };
            for edge in &node.in_place {
                add(&mut active, *edge, times.saturating_mul(again));
            }
            if match value {
                Value::Object(_) => node.goes_into_objects(),
                Value::Array(_) => node.goes_into_lists(),
                _ => false,
            } {
                self.charge(1, parts)?;
                inward.push((node, times));
            }
        }
        match value {
            Value::Object(map) if !inward.is_empty() => map
                .iter()
                .try_for_each(|(name, value)| self.member(name, value, &inward)),
            Value::Array(items) if !inward.is_empty() => items
                .iter()
                .enumerate()
                .try_for_each(|(place, item)| self.item(place, item, &inward)),
            _ => Ok(()),
        }
    }

    fn member(
        &mut self,
        name: &str,
        value: &Value,
        inward: &[(&'c Node, u64)],
    ) -> Result<(), TooMuch> {
        let (mut active, mut names) = (Active::new(), Active::new());
        for (node, times) in inward {
            let named = node.properties.get(name);
            let others = match named {
                Some(_) => &[][..],
                None => &node.others,
            };
            for edge in named.into_iter().chain(&node.members).chain(others) {
                add(&mut active, *edge, *times);
            }
            for edge in &node.names {
                add(&mut names, *edge, *times);
            }
        }
        if !names.is_empty() {
            self.walk(&Value::from(name), names)?;
        }
        match active.is_empty() {
            true => Ok(()),
            false => self.walk(value, active),
        }
    }

    fn item(
        &mut self,
        place: usize,
        item: &Value,
        inward: &[(&'c Node, u64)],
    ) -> Result<(), TooMuch> {
        let mut active = Active::new();
        for (node, times) in inward {
            for edge in node.prefix.get(place).into_iter().chain(&node.items) {
                add(&mut active, *edge, *times);
            }
        }
        match active.is_empty() {
            true => Ok(()),
            false => self.walk(item, active),
        }
    }
}

/// How many values there are in a value.
fn size(value: &Value) -> u64 {
    let mut count: u64 = 0;
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        count += 1;
        match value {
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => todo.extend(map.values()),
            _ => {}
        }
    }
    count
}

/// About how many states a pattern has: its length, times what its repetitions say.
fn states(pattern: &str) -> u64 {
    let mut states = length(pattern.len()).max(1);
    for counts in pattern.split('{').skip(1) {
        let counts = counts.split('}').next().unwrap_or_default();
        let most = counts
            .split(',')
            .filter_map(|count| count.parse::<u64>().ok());
        states = states.saturating_mul(most.max().unwrap_or(1).max(1));
    }
    states.min(MAX_STATES)
}
