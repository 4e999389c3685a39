//! Nodes of arrays that are gone, kept for new ones: a program makes and drops the same graph again and again, and would otherwise
//! spend a quarter of the time that building it takes on the allocator.

use std::cell::RefCell;
use std::sync::{Arc, PoisonError};

use super::{Call, Inputs, Node, Origin};

/// Nodes that a thread keeps, at most.
const MOST: usize = 4096;

thread_local! {
    static SPARE: RefCell<Vec<Arc<Node>>> = const { RefCell::new(Vec::new()) };
}

/// A place for a node.
pub(super) fn place(node: Node) -> Arc<Node> {
    // None while the thread ends.
    let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
    let Some(mut place) = spare else { return Arc::new(node) };
    *Arc::get_mut(&mut place).expect("nobody else holds a spare node") = node;
    place
}

/// Takes a node apart, if nobody else holds it: what its call was given goes to `pending`, and the node is kept.
pub(super) fn take_apart(mut place: Arc<Node>, pending: &mut Inputs) {
    let Some(node) = Arc::get_mut(&mut place) else {
        // Held by somebody else; or by a thread that lets go of it at this moment, and then one of the two gets it.
        if let Some(mut node) = Arc::into_inner(place) {
            empty(&mut node, pending);
        }
        return;
    };
    empty(node, pending);
    // While the thread ends, the node goes.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < MOST {
            spare.push(place);
        }
    });
}

fn empty(node: &mut Node, pending: &mut Inputs) {
    let state = node.state.get_mut().unwrap_or_else(PoisonError::into_inner);
    if let Some(Origin::Own(call)) = &mut state.origin {
        move_inputs(call, pending);
    } else if let Some(Origin::Shared(shared)) = state.origin.take()
        && let Some(mut shared) = Arc::into_inner(shared)
    {
        move_inputs(&mut shared.call, pending);
    }
    (state.origin, state.data, state.job) = (None, None, None);
}

fn move_inputs(call: &mut Call, pending: &mut Inputs) {
    while let Some(input) = call.inputs.pop() {
        pending.push(input);
    }
}
