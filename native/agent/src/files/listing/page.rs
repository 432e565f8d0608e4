//! One page of a sorted list. It keeps only the texts up to the page's end, and never the whole list.

use std::collections::BinaryHeap;

/// Beyond it a page would need too much of the sandbox's memory.
pub const MAX_KEPT: usize = 1_000_000;

pub struct Page {
    offset: usize,
    keep: usize,
    smallest: BinaryHeap<String>,
    total: usize,
}

impl Page {
    pub fn new(offset: usize, max_items: usize) -> Self {
        Self {
            offset,
            keep: offset.saturating_add(max_items).min(MAX_KEPT),
            smallest: BinaryHeap::new(),
            total: 0,
        }
    }

    /// Counts `text`, and keeps it while it may be on the page.
    pub fn offer(&mut self, text: String) {
        self.total += 1;
        if self.smallest.len() < self.keep {
            self.smallest.push(text);
        } else if let Some(mut largest) = self.smallest.peek_mut()
            && text < *largest
        {
            *largest = text;
        }
    }

    /// Returns the page, in order, and the number of all texts.
    pub fn finish(self) -> (Vec<String>, usize) {
        let mut sorted = self.smallest.into_sorted_vec();
        sorted.drain(..self.offset.min(sorted.len()));
        (sorted, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn a_page_is_a_slice_of_the_sorted_list(
            texts in prop::collection::vec("[a-c]{0,3}", 0..30),
            offset in 0usize..35,
            max_items in 0usize..10,
        ) {
            let mut page = Page::new(offset, max_items);
            for text in &texts {
                page.offer(text.clone());
            }
            let mut sorted = texts.clone();
            sorted.sort();
            let expected: Vec<_> = sorted.into_iter().skip(offset).take(max_items).collect();
            prop_assert_eq!(page.finish(), (expected, texts.len()));
        }
    }
}
