//! The state of a terminal after the bytes so far: a sequence that is still open, and the modes that last
//! until they are changed. Scrollback that has lost its beginning is shown from a place between sequences,
//! after these modes.

/// Private modes of xterm that full-screen programs set, with their default values.
const MODES: [(u16, bool); 12] = [
    (1, false),
    (7, true),
    (25, true),
    (1000, false),
    (1002, false),
    (1003, false),
    (1004, false),
    (1006, false),
    (2004, false),
    (47, false),
    (1047, false),
    (1049, false),
];
/// The last of them lead to the alternate screen, which has one state under three numbers.
const SCREEN: usize = 9;
const MAX_PARAMETERS: usize = 8;
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// Either ends any sequence.
const CANCEL: [u8; 2] = [0x18, 0x1a];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// This many bytes of a character are missing.
    Character(u8),
    Escape,
    /// After the intermediate byte of a sequence of two or three.
    Intermediate,
    Control {
        private: bool,
    },
    /// A title, a link, or another text that is not shown.
    Text,
    TextEscape,
}

#[derive(Clone, Debug)]
pub struct Escapes {
    state: State,
    parameters: [u16; MAX_PARAMETERS],
    last: usize,
    on: [bool; MODES.len()],
    keypad: bool,
}

impl Default for Escapes {
    fn default() -> Self {
        Self {
            state: State::Ground,
            parameters: [0; MAX_PARAMETERS],
            last: 0,
            on: MODES.map(|(_, usual)| usual),
            keypad: false,
        }
    }
}

impl Escapes {
    /// True between characters and sequences.
    pub fn at_rest(&self) -> bool {
        self.state == State::Ground
    }

    pub fn on_alternate_screen(&self) -> bool {
        self.on[SCREEN]
    }

    pub fn feed_all(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.feed(*byte);
        }
    }

    pub fn feed(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Ground, 0x20..=0x7e) => return,
            (State::Character(left), 0x80..=0xbf) if left > 1 => State::Character(left - 1),
            (State::Character(_), 0x80..=0xbf) => State::Ground,
            (State::Text, ESC) => State::TextEscape,
            (State::Text, BEL) => State::Ground,
            (_, ESC) => State::Escape,
            (_, byte) if CANCEL.contains(&byte) => State::Ground,
            (State::Text, _) => return,
            // Without the backslash that ends a text, the escape began something else.
            (State::TextEscape, b'\\') => State::Ground,
            (State::Escape | State::TextEscape, _) => self.begin(byte),
            (State::Intermediate, 0x30..=0x7e) => State::Ground,
            (State::Intermediate, _) => return,
            (State::Control { private }, _) => self.control(private, byte),
            (State::Ground | State::Character(_), _) => character(byte),
        };
    }

    fn begin(&mut self, byte: u8) -> State {
        self.parameters = [0; MAX_PARAMETERS];
        self.last = 0;
        match byte {
            b'[' => return State::Control { private: false },
            b']' | b'P' | b'X' | b'^' | b'_' => return State::Text,
            0x20..=0x2f => return State::Intermediate,
            b'c' => *self = Self::default(),
            b'=' => self.keypad = true,
            b'>' => self.keypad = false,
            0x00..=0x1f => return State::Escape,
            _ => {}
        }
        State::Ground
    }

    fn control(&mut self, private: bool, byte: u8) -> State {
        match byte {
            b'?' => return State::Control { private: true },
            b'0'..=b'9' => {
                let value = &mut self.parameters[self.last];
                *value = value
                    .saturating_mul(10)
                    .saturating_add(u16::from(byte - b'0'));
            }
            b';' => self.last = (self.last + 1).min(MAX_PARAMETERS - 1),
            b'h' | b'l' if private => {
                self.set_modes(byte == b'h');
                return State::Ground;
            }
            0x40..=0x7e => return State::Ground,
            _ => {}
        }
        State::Control { private }
    }

    fn set_modes(&mut self, on: bool) {
        for parameter in &self.parameters[..=self.last] {
            let found = MODES.iter().position(|(number, _)| number == parameter);
            match found {
                Some(index) if index >= SCREEN => self.on[SCREEN..].fill(on),
                Some(index) => self.on[index] = on,
                None => {}
            }
        }
    }

    /// Brings any terminal into these modes, whatever sequence it is in.
    pub fn restore(&self) -> Vec<u8> {
        // The first byte ends an open sequence, the next four reset text attributes and margins.
        let mut out = b"\x18\x1b[!p\x1b[m".to_vec();
        // Of the numbers for the alternate screen, the one that moves no cursor when it is left.
        let screen: &[u8] = match self.on_alternate_screen() {
            true => b"\x1b[?1049h",
            false => b"\x1b[?1047l",
        };
        out.extend_from_slice(screen);
        for (index, (number, _)) in MODES[..SCREEN].iter().enumerate() {
            let last = if self.on[index] { 'h' } else { 'l' };
            out.extend_from_slice(format!("\x1b[?{number}{last}").as_bytes());
        }
        out.extend_from_slice(if self.keypad { b"\x1b=" } else { b"\x1b>" });
        out
    }
}

/// The state after the first byte of a character, or a control.
fn character(byte: u8) -> State {
    match byte {
        0xc2..=0xdf => State::Character(1),
        0xe0..=0xef => State::Character(2),
        0xf0..=0xf4 => State::Character(3),
        _ => State::Ground,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(bytes: &[u8]) -> Escapes {
        let mut escapes = Escapes::default();
        escapes.feed_all(bytes);
        escapes
    }

    #[test]
    fn a_place_is_safe_between_sequences_alone() {
        for (bytes, safe) in [
            (&b""[..], true),
            (b"plain\r\n", true),
            (b"\x1b", false),
            (b"\x1b[", false),
            (b"\x1b[1;31", false),
            (b"\x1b[1;31m", true),
            (b"\x1b(", false),
            (b"\x1b(B", true),
            (b"\x1b]0;title", false),
            (b"\x1b]0;title\x07", true),
            (b"\x1b]8;;https://example.org\x1b", false),
            (b"\x1b]8;;https://example.org\x1b\\", true),
            (b"\x1bPq#0", false),
            (b"\x1b[12\x18", true),
            (b"\x1b]0;a\x1b[2J", true),
            ("é".as_bytes(), true),
            (&"é".as_bytes()[..1], false),
            (&"€".as_bytes()[..2], false),
            (&"😀".as_bytes()[..3], false),
            ("😀".as_bytes(), true),
            (b"\xff\xfe", true),
            (b"\xe2(", true),
        ] {
            assert_eq!(after(bytes).at_rest(), safe, "{bytes:?}");
        }
    }

    #[test]
    fn the_alternate_screen_is_one_under_all_its_numbers() {
        assert!(after(b"\x1b[?1049h").on_alternate_screen());
        assert!(after(b"\x1b[?1;47h").on_alternate_screen());
        assert!(!after(b"\x1b[?1049h\x1b[?1047l").on_alternate_screen());
        assert!(!after(b"\x1b[?1049h\x1bc").on_alternate_screen());
        // Without the question mark it is another mode.
        assert!(!after(b"\x1b[1049h").on_alternate_screen());
    }

    #[test]
    fn modes_are_restored_with_one_text() {
        let restored =
            String::from_utf8(after(b"\x1b[?1049;2004h\x1b[?25l\x1b=").restore()).unwrap();
        assert_eq!(
            restored,
            "\x18\x1b[!p\x1b[m\x1b[?1049h\x1b[?1l\x1b[?7h\x1b[?25l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\
             \x1b[?1006l\x1b[?2004h\x1b="
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn what_is_restored_has_the_same_modes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let before = after(&bytes);
            let mut again = after(b"\x1b]0;open");
            again.feed_all(&before.restore());
            prop_assert!(again.at_rest());
            prop_assert_eq!((again.on, again.keypad), (before.on, before.keypad));
        }
    }
}
