//! Keys of an account, in the form of a secret's value: `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`.

use super::credential::{Credential, END};
use ring::hmac::{HMAC_SHA256, Key, sign};
use zeroize::Zeroizing;

pub struct Keys {
    pub id: Zeroizing<String>,
    pub token: Option<Zeroizing<String>>,
    secret: Zeroizing<String>,
}

/// Signs the text of one request.
pub struct Signer(Key);

impl Keys {
    pub fn parse(value: &str) -> Result<Keys, &'static str> {
        let mut parts = value
            .splitn(3, ':')
            .map(|part| Zeroizing::new(part.to_owned()));
        let (id, secret) = (parts.next(), parts.next());
        let is_field =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        match (id, secret, parts.next()) {
            (Some(id), Some(secret), token)
                if is_field(&id)
                    && is_field(&secret)
                    && token.as_ref().is_none_or(|token| is_field(token)) =>
            {
                Ok(Keys { id, token, secret })
            }
            _ => Err(
                "its value is not ACCESS_KEY_ID:SECRET_ACCESS_KEY or ACCESS_KEY_ID:SECRET_ACCESS_KEY:SESSION_TOKEN",
            ),
        }
    }

    /// Parts that no answer may show; the id is not secret.
    pub fn hidden(&self) -> Vec<Zeroizing<Vec<u8>>> {
        let hidden = [Some(&self.secret), self.token.as_ref()];
        hidden
            .into_iter()
            .flatten()
            .map(|text| text.as_bytes().to_vec().into())
            .collect()
    }

    pub fn signing_key(&self, credential: &Credential) -> Signer {
        let first = Zeroizing::new(format!("AWS4{}", &*self.secret));
        let start = Key::new(HMAC_SHA256, first.as_bytes());
        let parts = [
            &credential.date,
            &credential.region,
            &credential.service,
            END,
        ];
        let key = parts.iter().fold(start, |key, part| {
            Key::new(HMAC_SHA256, sign(&key, part.as_bytes()).as_ref())
        });
        Signer(key)
    }
}

impl Signer {
    pub fn sign(&self, text: &[u8]) -> ring::hmac::Tag {
        sign(&self.0, text)
    }
}
