//! Which numbered actor may run which numbered tool.
//!
//! Nothing here allocates once it is built, and nothing is allowed that was not put in.

/// Pairs of numbers, by the first.
#[derive(Debug)]
pub(super) enum Pairs {
    /// A bit for each actor and tool.
    Bits {
        /// How many words each actor has.
        stride: usize,
        words: Vec<u64>,
    },
    /// The tools of each actor, sorted, side by side.
    Lists {
        /// Where each actor's tools start; one more than there are actors.
        starts: Vec<u32>,
        tools: Tools,
    },
}

/// Bits may take so many bytes, however few pairs there are.
const SMALL: usize = 1 << 16;
/// Beyond that, they may take so many bytes a pair.
const BYTES_A_PAIR: usize = 4;

/// The numbers of tools, as narrow as they can be.
#[derive(Debug)]
pub(super) enum Tools {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Pairs {
    /// From the pairs of numbers, all different, of so many actors and tools. They are gone through several times.
    pub(super) fn new<I: Iterator<Item = (u32, u32)>>(
        pairs: impl Fn() -> I,
        actors: usize,
        tools: usize,
    ) -> Self {
        let count = pairs().count();
        let stride = tools.div_ceil(64);
        if actors * stride * 8 <= SMALL.max(count * BYTES_A_PAIR) {
            let mut words = vec![0_u64; actors * stride];
            for (actor, tool) in pairs() {
                let at = actor as usize * stride + tool as usize / 64;
                if let Some(word) = words.get_mut(at) {
                    *word |= 1 << (tool % 64);
                }
            }
            return Self::Bits { stride, words };
        }
        let mut starts = vec![0_u32; actors + 1];
        for (actor, _) in pairs() {
            if let Some(count) = starts.get_mut(actor as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let tools = match u16::try_from(tools.saturating_sub(1)) {
            Ok(_) => Tools::Narrow(lists(pairs(), count, &starts, |tool| {
                u16::try_from(tool).unwrap_or(u16::MAX)
            })),
            Err(_) => Tools::Wide(lists(pairs(), count, &starts, |tool| tool)),
        };
        Self::Lists { starts, tools }
    }

    /// Whether the pair was put in.
    #[inline]
    pub(super) fn contains(&self, actor: u32, tool: u32) -> bool {
        let at = actor as usize;
        match self {
            Self::Bits { stride, words } => {
                let column = tool as usize / 64;
                column < *stride
                    && words
                        .get(at * stride + column)
                        .is_some_and(|word| word >> (tool % 64) & 1 == 1)
            }
            Self::Lists { starts, tools } => {
                let (Some(start), Some(end)) = (starts.get(at), starts.get(at + 1)) else {
                    return false;
                };
                let range = *start as usize..*end as usize;
                match tools {
                    Tools::Narrow(tools) => {
                        let wanted = u16::try_from(tool);
                        let list = tools.get(range).unwrap_or(&[]);
                        wanted.is_ok_and(|tool| list.binary_search(&tool).is_ok())
                    }
                    Tools::Wide(tools) => {
                        let list = tools.get(range).unwrap_or(&[]);
                        list.binary_search(&tool).is_ok()
                    }
                }
            }
        }
    }
}

/// The tools of the pairs, gathered by actor and sorted.
fn lists<T: Copy + Default + Ord>(
    pairs: impl Iterator<Item = (u32, u32)>,
    count: usize,
    starts: &[u32],
    number: impl Fn(u32) -> T,
) -> Vec<T> {
    let mut next = starts.to_vec();
    let mut lists = vec![T::default(); count];
    for (actor, tool) in pairs {
        if let Some(place) = next.get_mut(actor as usize) {
            if let Some(slot) = lists.get_mut(*place as usize) {
                *slot = number(tool);
            }
            *place += 1;
        }
    }
    for range in starts.windows(2) {
        if let [start, end] = range
            && let Some(list) = lists.get_mut(*start as usize..*end as usize)
        {
            list.sort_unstable();
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_found_only_if_it_was_put_in() {
        for tools in [1, 64, 65, 1_000, 65_536, 70_000, 1 << 20_usize] {
            let last = u32::try_from(tools).unwrap() - 1;
            let pairs = [(2, last), (0, 0), (0, last / 2), (2, last / 3)];
            let built = Pairs::new(|| pairs.into_iter(), 4, tools);
            for actor in 0..6 {
                for tool in [0, last / 3, last / 2, last, last + 1, 64, 128, u32::MAX] {
                    let expected = pairs.contains(&(actor, tool));
                    assert_eq!(
                        built.contains(actor, tool),
                        expected,
                        "{actor} {tool} of {tools}"
                    );
                }
            }
        }
    }
}
