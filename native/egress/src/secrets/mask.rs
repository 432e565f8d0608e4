//! Finds texts in a stream, across the borders of its pieces (Knuth, Morris and Pratt), with one step for
//! each byte, whatever the texts are. Where no match has begun, a search for the whole text skips most steps,
//! also in linear time.

use hyper::body::Bytes;
use memchr::memmem;
use std::sync::Arc;
use zeroize::Zeroizing;

pub struct Mask {
    text: Zeroizing<Vec<u8>>,
    /// For each length: the longest shorter beginning of the text that also ends there.
    shorter: Zeroizing<Vec<u16>>,
}

/// Masking a shorter text would hide ordinary text.
const SHORTEST: usize = 8;
const STAR: u8 = b'*';

impl Mask {
    /// None where the text is too short to be found, or too long.
    pub fn new(text: &[u8]) -> Option<Mask> {
        if !(SHORTEST..usize::from(u16::MAX)).contains(&text.len()) {
            return None;
        }
        let mut mask = Mask {
            text: Zeroizing::new(text.to_vec()),
            shorter: Zeroizing::new(vec![0; text.len() + 1]),
        };
        let mut matched = 0;
        for (at, &byte) in text.iter().enumerate().skip(1) {
            matched = mask.step(matched, byte);
            mask.shorter[at + 1] = matched as u16;
        }
        Some(mask)
    }

    /// Returns the bytes of the text that match after one more byte.
    fn step(&self, mut matched: usize, byte: u8) -> usize {
        while matched > 0 && self.text[matched] != byte {
            matched = self.shorter[matched].into();
        }
        matched + usize::from(self.text[matched] == byte)
    }

    /// Scans a piece. Returns the bytes that match at its end, and calls `found` with each end of the text.
    fn scan(&self, mut matched: usize, piece: &[u8], mut found: impl FnMut(usize)) -> usize {
        let mut at = 0;
        // The whole text does not fit from here on.
        let rest = piece.len().saturating_sub(self.text.len() - 1);
        // Building the searcher takes one step for each byte of the text, and keeps no copy of it.
        let finder = (rest > 0).then(|| memmem::Finder::new(&*self.text));
        while at < piece.len() {
            if let Some(finder) = finder.as_ref().filter(|_| matched == 0 && at < rest) {
                at += finder.find(&piece[at..]).unwrap_or(rest - at);
            }
            matched = self.step(matched, piece[at]);
            at += 1;
            if matched == self.text.len() {
                found(at);
                matched = self.shorter[matched].into();
            }
        }
        matched
    }
}

/// Masks one stream. It holds back only bytes that may begin a text.
pub struct Masker {
    masks: Vec<Arc<Mask>>,
    matched: Vec<usize>,
    held: Bytes,
}

impl Masker {
    pub fn new(masks: Vec<Arc<Mask>>) -> Masker {
        Masker {
            matched: vec![0; masks.len()],
            masks,
            held: Bytes::new(),
        }
    }

    /// Returns the bytes that may be passed on.
    pub fn push(&mut self, piece: Bytes) -> Bytes {
        let mut found = Vec::new();
        for (mask, matched) in self.masks.iter().zip(&mut self.matched) {
            let before = self.held.len();
            let length = mask.text.len();
            *matched = mask.scan(*matched, &piece, |end| {
                found.push((before + end - length, before + end))
            });
        }
        let mut all = match self.held.is_empty() {
            true => piece,
            false => [&self.held[..], &piece[..]].concat().into(),
        };
        if !found.is_empty() {
            let mut masked = all.to_vec();
            for (start, end) in found {
                masked[start..end].fill(STAR);
            }
            all = masked.into();
        }
        let held = self.matched.iter().max().copied().unwrap_or(0);
        self.held = all.split_off(all.len() - held);
        all
    }

    /// Returns the bytes that were held back, at the end.
    pub fn finish(&mut self) -> Bytes {
        self.matched.fill(0);
        std::mem::take(&mut self.held)
    }

    pub fn holds(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masks(texts: &[&str]) -> Vec<Arc<Mask>> {
        texts
            .iter()
            .map(|text| Arc::new(Mask::new(text.as_bytes()).unwrap()))
            .collect()
    }

    fn through(texts: &[&str], pieces: &[&[u8]]) -> String {
        let mut masker = Masker::new(masks(texts));
        let mut out = Vec::new();
        for piece in pieces {
            out.extend_from_slice(&masker.push(Bytes::copy_from_slice(piece)));
        }
        out.extend_from_slice(&masker.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_occurrence_becomes_as_many_stars() {
        assert_eq!(
            through(&["secret-1"], &[b"a secret-1, secret-1secret-1 secret-2"]),
            "a ********, **************** secret-2"
        );
    }

    #[test]
    fn an_occurrence_across_pieces_is_found() {
        assert_eq!(
            through(&["secret-1"], &[b"a sec", b"ret", b"-", b"1 b"]),
            "a ******** b"
        );
        assert_eq!(
            through(&["secret-1"], &[b"secsecret", b"-1"]),
            "sec********"
        );
        assert_eq!(through(&["secret-1"], &[b"secret-"]), "secret-");
    }

    #[test]
    fn occurrences_that_overlap_are_all_masked() {
        assert_eq!(through(&["abababab"], &[b"xabababababy"]), "x**********y");
        assert_eq!(
            through(&["12345678", "56789abc"], &[b"0123456789abcd"]),
            "0************d"
        );
    }

    #[test]
    fn only_a_possible_beginning_is_held_back() {
        let mut masker = Masker::new(masks(&["secret-1"]));
        assert_eq!(
            masker.push(Bytes::from_static(b"data: x\n\n")),
            "data: x\n\n"
        );
        assert_eq!(masker.push(Bytes::from_static(b"data: s")), "data: ");
        assert_eq!(masker.push(Bytes::from_static(b"ocks\n\n")), "socks\n\n");
    }

    #[test]
    fn a_text_that_is_too_short_is_not_masked() {
        assert!(Mask::new(b"1234567").is_none());
    }

    /// Finds all positions that an occurrence covers, by comparing at each position.
    fn slowly(texts: &[Vec<u8>], data: &[u8]) -> Vec<u8> {
        let mut out = data.to_vec();
        for text in texts {
            for at in 0..data.len().saturating_sub(text.len() - 1) {
                if data[at..].starts_with(text) {
                    out[at..at + text.len()].fill(b'*');
                }
            }
        }
        out
    }

    proptest! {
        // Few letters, so that beginnings of the text abound.
        #[test]
        fn pieces_of_any_size_are_masked_like_the_whole(
            texts in proptest::collection::vec(proptest::collection::vec(b'a'..=b'b', 8..12), 1..3),
            data in proptest::collection::vec(b'a'..=b'b', 0..300),
            cuts in proptest::collection::vec(1usize..20, 0..60),
        ) {
            let masks = texts.iter().map(|text| Arc::new(Mask::new(text).unwrap())).collect();
            let mut masker = Masker::new(masks);
            let mut out = Vec::new();
            let mut rest = Bytes::from(data.clone());
            for cut in cuts {
                let piece = rest.split_to(cut.min(rest.len()));
                out.extend_from_slice(&masker.push(piece));
                prop_assert!(masker.holds() < 12);
            }
            out.extend_from_slice(&masker.push(rest));
            out.extend_from_slice(&masker.finish());
            prop_assert_eq!(out, slowly(&texts, &data));
        }
    }
}
