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
    /// From the pairs of numbers, all different, of so many actors and tools. `each` is called several times.
    pub(super) fn new(
        count: usize,
        actors: usize,
        tools: usize,
        each: impl Fn(&mut dyn FnMut(u32, u32)),
    ) -> Self {
        if Self::is_dense(count, actors, tools) {
            let stride = tools.div_ceil(64);
            let mut words = vec![0_u64; actors * stride];
            each(&mut |actor, tool| {
                let at = actor as usize * stride + tool as usize / 64;
                if let Some(word) = words.get_mut(at) {
                    *word |= 1 << (tool % 64);
                }
            });
            return Self::Bits { stride, words };
        }
        let mut starts = vec![0_u32; actors + 1];
        each(&mut |actor, _| {
            if let Some(count) = starts.get_mut(actor as usize + 1) {
                *count += 1;
            }
        });
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut lists = Tools::with(count, tools);
        each(&mut |actor, tool| {
            if let Some(place) = next.get_mut(actor as usize) {
                lists.set(*place as usize, tool);
                *place += 1;
            }
        });
        lists.sort(&starts);
        Self::Lists {
            starts,
            tools: lists,
        }
    }

    /// From rows of bits, one for each actor, of `stride` words.
    pub(super) fn of_bits(
        count: usize,
        actors: usize,
        tools: usize,
        stride: usize,
        bits: &[u64],
    ) -> Self {
        if Self::is_dense(count, actors, tools) {
            return Self::Bits {
                stride,
                words: bits.to_vec(),
            };
        }
        let mut starts = Vec::with_capacity(actors + 1);
        let mut lists = Tools::with(count, tools);
        let mut end = 0;
        for row in bits.chunks_exact(stride.max(1)).take(actors) {
            starts.push(u32::try_from(end).unwrap_or(u32::MAX));
            for (word, first) in row.iter().zip((0..).step_by(64)) {
                let mut left = *word;
                while left != 0 {
                    lists.set(end, first + left.trailing_zeros());
                    left &= left - 1;
                    end += 1;
                }
            }
        }
        starts.push(u32::try_from(end).unwrap_or(u32::MAX));
        Self::Lists {
            starts,
            tools: lists,
        }
    }

    /// Whether a bit for each actor and tool is in proportion to so many pairs.
    fn is_dense(count: usize, actors: usize, tools: usize) -> bool {
        let bytes = actors.saturating_mul(tools.div_ceil(64)).saturating_mul(8);
        bytes <= SMALL.max(count * BYTES_A_PAIR)
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

impl Tools {
    /// Room for so many numbers below `tools`.
    fn with(count: usize, tools: usize) -> Self {
        match u16::try_from(tools.saturating_sub(1)) {
            Ok(_) => Self::Narrow(vec![0; count]),
            Err(_) => Self::Wide(vec![0; count]),
        }
    }

    fn set(&mut self, at: usize, tool: u32) {
        match self {
            Self::Narrow(tools) => {
                if let (Some(slot), Ok(tool)) = (tools.get_mut(at), u16::try_from(tool)) {
                    *slot = tool;
                }
            }
            Self::Wide(tools) => {
                if let Some(slot) = tools.get_mut(at) {
                    *slot = tool;
                }
            }
        }
    }

    /// Sorts each actor's tools.
    fn sort(&mut self, starts: &[u32]) {
        for range in starts.windows(2) {
            let &[start, end] = range else { continue };
            let range = start as usize..end as usize;
            match self {
                Self::Narrow(tools) => tools.get_mut(range).unwrap_or_default().sort_unstable(),
                Self::Wide(tools) => tools.get_mut(range).unwrap_or_default().sort_unstable(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_found_only_if_it_was_put_in() {
        for tools in [1_usize, 64, 65, 1_000, 65_536, 70_000, 1 << 20] {
            let last = u32::try_from(tools).unwrap() - 1;
            let pairs = [(2, last), (0, 0), (0, last / 2), (2, last / 3)];
            let each = |visit: &mut dyn FnMut(u32, u32)| {
                pairs.iter().for_each(|(actor, tool)| visit(*actor, *tool));
            };
            let stride = tools.div_ceil(64).next_power_of_two();
            let mut bits = vec![0; 4 * stride];
            for (actor, tool) in pairs {
                bits[actor as usize * stride + tool as usize / 64] |= 1 << (tool % 64);
            }
            for built in [
                Pairs::new(4, 4, tools, each),
                Pairs::of_bits(4, 4, tools, stride, &bits),
            ] {
                for actor in 0..6 {
                    for tool in [0, last / 3, last / 2, last, last + 1, 64, 128, u32::MAX] {
                        assert_eq!(
                            built.contains(actor, tool),
                            pairs.contains(&(actor, tool)),
                            "{actor} {tool} of {tools}"
                        );
                    }
                }
            }
        }
    }
}
