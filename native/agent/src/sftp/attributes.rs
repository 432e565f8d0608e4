//! The attributes of a file in the protocol's form, where each group of fields may be left out.

use rustix::fs::Stat;

use super::fields::{Fields, Malformed};

const SIZE: u32 = 1;
const OWNER: u32 = 2;
const PERMISSIONS: u32 = 4;
const TIMES: u32 = 8;
const EXTENDED: u32 = 0x8000_0000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub size: Option<u64>,
    /// Ids of user and group.
    pub owner: Option<(u32, u32)>,
    /// With the type of the file in the answers.
    pub permissions: Option<u32>,
    /// Times of the last access and the last change, in seconds since 1970.
    pub times: Option<(u32, u32)>,
}

impl Attributes {
    pub fn parse(fields: &mut Fields) -> Result<Self, Malformed> {
        let flags = fields.u32()?;
        let has = |flag| flags & flag != 0;
        let mut attributes = Self::default();
        if has(SIZE) {
            attributes.size = Some(fields.u64()?);
        }
        if has(OWNER) {
            attributes.owner = Some((fields.u32()?, fields.u32()?));
        }
        if has(PERMISSIONS) {
            attributes.permissions = Some(fields.u32()?);
        }
        if has(TIMES) {
            attributes.times = Some((fields.u32()?, fields.u32()?));
        }
        if has(EXTENDED) {
            for _ in 0..fields.u32()? {
                fields.string()?;
                fields.string()?;
            }
        }
        Ok(attributes)
    }

    pub fn of(stat: &Stat) -> Self {
        Self {
            size: Some(stat.st_size.cast_unsigned()),
            owner: Some((stat.st_uid, stat.st_gid)),
            permissions: Some(stat.st_mode),
            times: Some((seconds(stat.st_atime), seconds(stat.st_mtime))),
        }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let flag = |there: bool, flag| if there { flag } else { 0 };
        let flags = flag(self.size.is_some(), SIZE)
            | flag(self.owner.is_some(), OWNER)
            | flag(self.permissions.is_some(), PERMISSIONS)
            | flag(self.times.is_some(), TIMES);
        out.extend(flags.to_be_bytes());
        if let Some(size) = self.size {
            out.extend(size.to_be_bytes());
        }
        let pairs = [
            self.owner.map(|(user, group)| [Some(user), Some(group)]),
            self.permissions
                .map(|permissions| [Some(permissions), None]),
            self.times
                .map(|(access, change)| [Some(access), Some(change)]),
        ];
        for number in pairs.into_iter().flatten().flatten().flatten() {
            out.extend(number.to_be_bytes());
        }
    }
}

/// The protocol has times from 1970 to 2106.
fn seconds(time: i64) -> u32 {
    u32::try_from(time.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_written_is_read(
            size in any::<Option<u64>>(),
            owner in any::<Option<(u32, u32)>>(),
            permissions in any::<Option<u32>>(),
            times in any::<Option<(u32, u32)>>(),
        ) {
            let attributes = Attributes { size, owner, permissions, times };
            let mut bytes = Vec::new();
            attributes.write(&mut bytes);
            let mut fields = Fields(&bytes);
            prop_assert_eq!(Attributes::parse(&mut fields), Ok(attributes));
            prop_assert!(fields.0.is_empty());
        }
    }
}
