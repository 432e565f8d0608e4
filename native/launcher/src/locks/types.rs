//! Offsets of fields in the kernel's structures, which differ between kernels, from the kernel's description
//! of its types (BTF). Source of the format: Documentation/bpf/btf.rst of the kernel.

const MAGIC: u16 = 0xeb9f;
const TYPE_BYTES: usize = 12;
const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// Bytes after a type: a fixed number, and a number for each of its parts.
const fn bytes_behind(kind: u32) -> Option<(usize, usize)> {
    match kind {
        2 | 7..=12 | 16 | 18 => Some((0, 0)),
        1 | 14 | 17 => Some((4, 0)),
        3 => Some((12, 0)),
        STRUCT | UNION | 15 | 19 => Some((0, 12)),
        6 | 13 => Some((0, 8)),
        _ => None,
    }
}

pub struct Types<'a> {
    names: &'a [u8],
    /// Each with its parts; the first has the number 1.
    types: Vec<&'a [u8]>,
}

impl<'a> Types<'a> {
    /// None where the description has another form.
    pub fn parse(description: &'a [u8]) -> Option<Self> {
        let is_known = number(description, 0)? as u16 == MAGIC;
        let header = number(description, 4)? as usize;
        let part = |at| {
            let start = header.checked_add(number(description, at)? as usize)?;
            description.get(start..start.checked_add(number(description, at + 4)? as usize)?)
        };
        let (mut rest, names) = (part(8)?, part(16)?);
        let mut types = Vec::new();
        while !rest.is_empty() {
            let (kind, parts) = kind_of(rest)?;
            let (fixed, each) = bytes_behind(kind)?;
            let (one, others) = rest.split_at_checked(TYPE_BYTES + fixed + each * parts)?;
            types.push(one);
            rest = others;
        }
        is_known.then_some(Self { names, types })
    }

    /// Returns the offset of the field, in a structure of this name that has it.
    pub fn offset(&self, structure: &str, field: &str) -> Option<i32> {
        let named = self.types.iter().filter(|one| {
            kind_of(one).is_some_and(|(kind, _)| kind == STRUCT) && self.has_name(one, structure)
        });
        let mut bits = named.filter_map(|one| self.bits_before(one, field));
        i32::try_from(bits.next()? / 8).ok()
    }

    /// Fields of unnamed parts count as the structure's own.
    fn bits_before(&self, one: &[u8], field: &str) -> Option<u32> {
        let (kind, _) = kind_of(one)?;
        if kind != STRUCT && kind != UNION {
            return None;
        }
        // Some structures keep sizes of bit fields in the upper byte.
        let mask = if number(one, 4)? >> 31 == 1 {
            0xff_ffff
        } else {
            u32::MAX
        };
        one.get(TYPE_BYTES..)?.chunks_exact(12).find_map(|part| {
            let before = number(part, 8)? & mask;
            if self.has_name(part, field) {
                return Some(before);
            }
            if number(part, 0)? != 0 {
                return None;
            }
            let inner = self
                .types
                .get((number(part, 4)? as usize).checked_sub(1)?)?;
            Some(before + self.bits_before(inner, field)?)
        })
    }

    fn has_name(&self, one: &[u8], name: &str) -> bool {
        number(one, 0)
            .and_then(|at| self.names.get(at as usize..)?.strip_prefix(name.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&0))
    }
}

fn kind_of(one: &[u8]) -> Option<(u32, usize)> {
    let about = number(one, 4)?;
    Some((about >> 24 & 0x1f, (about & 0xffff) as usize))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[u8] = b"\0int\0lock\0link\0file\0lockup\0";
    const INT: [u32; 4] = [1, 1 << 24, 4, 32];

    fn described(types: &[&[u32]]) -> Vec<u8> {
        let types = types.concat();
        let bytes = types.len() as u32 * 4;
        let header = [0xeb9f | 1 << 16, 24, 0, bytes, bytes, NAMES.len() as u32];
        let numbers = header.into_iter().chain(types);
        let mut description: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        description.extend(NAMES);
        description
    }

    #[test]
    fn a_field_has_its_place_also_in_a_part_without_a_name() {
        // A union of "file", in a structure "lockup" without "file", and in "lock" behind "link".
        let union = [0, 5 << 24 | 1, 4, 15, 1, 0];
        let lockup = [20, 4 << 24 | 1, 4, 10, 1, 0];
        let lock = [5, 4 << 24 | 2, 12, 10, 1, 0, 0, 2, 64];
        let description = described(&[&INT, &union, &lockup, &lock]);
        let types = Types::parse(&description).unwrap();
        assert_eq!(types.offset("lock", "link"), Some(0));
        assert_eq!(types.offset("lock", "file"), Some(8));
        assert_eq!(types.offset("lockup", "file"), None);
        assert_eq!(types.offset("int", "file"), None);
    }

    #[test]
    fn sizes_of_bit_fields_are_no_part_of_a_place() {
        let lock = [5, 1 << 31 | 4 << 24 | 1, 12, 15, 1, 7 << 24 | 32];
        let description = described(&[&INT, &lock]);
        let types = Types::parse(&description).unwrap();
        assert_eq!(types.offset("lock", "file"), Some(4));
    }

    #[test]
    fn what_is_no_description_has_no_types() {
        let cut = described(&[&[5, 4 << 24 | 2, 12, 10, 1, 0]]);
        let unknown = described(&[&[5, 31 << 24, 12]]);
        for bytes in [&[][..], &[0; 24], &cut, &unknown] {
            assert!(Types::parse(bytes).is_none());
        }
    }
}
