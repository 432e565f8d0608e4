//! All contexts of the sandbox, and the bound on their number.

use std::cell::RefCell;
use std::rc::Rc;

use super::kernel::Kernel;
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

const MAX_CONTEXTS: usize = 64;

#[derive(Default)]
pub struct Registry {
    /// Oldest first.
    kernels: RefCell<Vec<Rc<Kernel>>>,
    starting: RefCell<Vec<String>>,
}

/// Holds the place and the id of a context that is being started.
pub struct Starting<'a> {
    registry: &'a Registry,
    id: &'a str,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut starting = self.registry.starting.borrow_mut();
        starting.retain(|other| other != self.id);
    }
}

impl Registry {
    /// Oldest first.
    pub fn all(&self) -> Vec<Rc<Kernel>> {
        self.kernels.borrow().clone()
    }

    pub fn find(&self, id: &str) -> Result<Rc<Kernel>, Fault> {
        let kernels = self.kernels.borrow();
        let found = kernels.iter().find(|kernel| kernel.about.id == id);
        found.cloned().ok_or_else(|| {
            Fault::not_found(Resource::Context, format!("There is no context '{id}'."))
                .parameter("context")
                .hint("Create it first, or list the contexts: a stop of the sandbox ends them.")
        })
    }

    /// Fails unless a context of this id may be started.
    pub fn begin<'a>(&'a self, id: &'a str) -> Result<Starting<'a>, Fault> {
        let kernels = self.kernels.borrow();
        let mut starting = self.starting.borrow_mut();
        if kernels.iter().any(|kernel| kernel.about.id == id)
            || starting.iter().any(|other| other == id)
        {
            return Err(Fault::new(
                Code::AlreadyExists,
                format!("There is a context '{id}' already."),
            )
            .parameter("context")
            .hint("Use it, restart it, or choose another id."));
        }
        if kernels.len() + starting.len() >= MAX_CONTEXTS {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!("The sandbox has {MAX_CONTEXTS} contexts."),
            )
            .hint("Delete one that is not needed."));
        }
        starting.push(id.to_owned());
        Ok(Starting { registry: self, id })
    }

    pub fn add(&self, kernel: &Rc<Kernel>) {
        self.kernels.borrow_mut().push(Rc::clone(kernel));
    }

    pub fn remove(&self, kernel: &Rc<Kernel>) {
        self.kernels
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, kernel));
    }
}
