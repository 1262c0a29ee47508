//! The order of conversations in tables: those of sub-agents and forks below the conversation that started them.

use std::collections::{HashMap, HashSet};

use super::Inspection;
use crate::report::table_model::cut_path;
use crate::results::saved::Families;
use crate::util::text::plural;

/// Marks a child, once for each generation.
const CHILD: &str = "↳ ";

/// Generations that a table shows; later ones look like the last of these.
const GENERATIONS: usize = 3;

/// A conversation of a family.
pub struct Member<'a> {
    pub inspection: &'a Inspection,
    /// 0 for a conversation without a parent, or whose parent is not here.
    generation: usize,
    /// The parent that is not here.
    missing: Option<&'a str>,
}

impl Member<'_> {
    /// The cells that name it: its transcript without this folder, and its conversation; names of at most `longest` characters.
    pub fn names(&self, folder: &str, longest: usize) -> [String; 2] {
        let mark = CHILD.repeat(self.generation.min(GENERATIONS));
        let transcript = &self.inspection.transcript[folder.len()..];
        let transcript = cut_path(transcript, longest.saturating_sub(mark.chars().count()));
        let conversation = cut_path(&self.inspection.conversation, longest);
        let conversation = match self.missing {
            Some(parent) => format!("{conversation}, child of {} (not here)", cut_path(parent, longest)),
            None => conversation,
        };
        [mark + &transcript, conversation]
    }
}

/// Says in how many sessions conversations are, and how many are of sub-agents: ` (1 session), 3 of them of sub-agents`. Leaves out
/// what is no news.
pub fn sessions(all: &[Inspection]) -> String {
    let families = Families::new(all.iter().map(|inspection| &inspection.kin));
    let sessions: HashSet<&str> = all.iter().map(|inspection| families.head(inspection.kin.session())).collect();
    let sessions = if sessions.len() == all.len() { String::new() } else { format!(" ({})", plural(sessions.len(), "session")) };
    match all.iter().filter(|inspection| inspection.identity.is_sub_agent()).count() {
        0 => sessions,
        count => format!("{sessions}, {} of them of sub-agents", super::number(count)),
    }
}

/// Returns the conversations by families, the largest first, and each child below its parent. Of a circle of parents, one counts as
/// having none.
pub fn by_family(all: &[Inspection]) -> Vec<Member<'_>> {
    let mut sessions: HashMap<&str, usize> = HashMap::new();
    for (at, inspection) in all.iter().enumerate() {
        inspection.identity.session.as_deref().map(|session| sessions.entry(session).or_insert(at));
    }
    let parent = |at: usize| all[at].identity.parent.as_deref().and_then(|id| sessions.get(id)).copied();
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in 0..all.len() {
        parent(at).into_iter().for_each(|parent| children.entry(parent).or_default().push(at));
    }
    children.values_mut().for_each(|children| children.sort_by_key(|at| all[*at].tokens.total));
    let mut seen = HashSet::new();
    let heads = (0..all.len()).filter(|at| parent(*at).is_none());
    let families = heads.chain(0..all.len()).map(|head| {
        let (mut members, mut next) = (Vec::new(), vec![(head, 0)]);
        while let Some((at, generation)) = next.pop() {
            if seen.insert(at) {
                let (inspection, missing) = (&all[at], all[at].identity.parent.as_deref().filter(|_| parent(at).is_none()));
                members.push(Member { inspection, generation, missing });
                next.extend(children.get(&at).into_iter().flatten().map(|child| (*child, generation + 1)));
            }
        }
        members
    });
    let mut families: Vec<Vec<Member>> = families.filter(|members| !members.is_empty()).collect();
    let tokens = |members: &Vec<Member>| members.iter().map(|member| member.inspection.tokens.total).sum::<u64>();
    families.sort_by_key(|members| std::cmp::Reverse(tokens(members)));
    families.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::inspect::TokensByKind;
    use crate::transcript::conversation::{ConversationBuilder, Identity, Thinking};

    /// Inspections of sessions: id, parent and tokens.
    fn inspections(sessions: &[(&str, &str, u64)]) -> Vec<Inspection> {
        let one = |(id, parent, total): &(&str, &str, u64)| {
            let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
            let parent = Some(*parent).filter(|parent| !parent.is_empty()).map(str::to_owned);
            builder.set_identity(Identity { session: Some((*id).to_owned()), ..Identity::of("kettle") }.started_by(parent));
            let reading = crate::transcript::format::Reading { conversations: vec![builder.finish()], ..Default::default() };
            let counter = "chars/4".parse().expect("a counter");
            let inspected = Inspection::all(id, &reading, counter, &crate::metrics::prices::Prices::built_in(), None).remove(0);
            Inspection { tokens: TokensByKind { total: *total, ..TokensByKind::default() }, ..inspected }
        };
        sessions.iter().map(one).collect()
    }

    fn order(sessions: &[(&str, &str, u64)]) -> Vec<String> {
        by_family(&inspections(sessions)).iter().map(|member| member.names("", usize::MAX).join(" | ")).collect()
    }

    #[test]
    fn children_are_below_their_parents_and_the_largest_family_is_first() {
        let sessions = [("a", "", 50), ("b1", "b", 5), ("b", "", 40), ("b2", "b", 9), ("b21", "b2", 1), ("x1", "x", 2)];
        let expected =
            ["b | main", "↳ b2 | main", "↳ ↳ b21 | main", "↳ b1 | main", "a | main", "x1 | main, child of x (not here)"];
        assert_eq!(order(&sessions), expected);
        let said = super::sessions(&inspections(&sessions));
        assert_eq!(said, " (3 sessions), 4 of them of sub-agents", "the families of a, of b, and of x, which is not here");
    }

    #[test]
    fn a_circle_of_parents_is_shown_once() {
        assert_eq!(order(&[("a", "b", 1), ("b", "a", 2), ("c", "c", 9)]), ["c | main", "a | main", "↳ b | main"]);
    }
}
