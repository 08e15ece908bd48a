//! Journals of tournaments: see [`crate::journal`].

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Results, ResultsError, Source};
use crate::game::ArenaGame;

/// What tells the lines of a journal apart.
#[derive(Deserialize)]
struct Line {
    /// Games have a player with Black.
    black: Option<IgnoredAny>,
    /// The header names the players.
    players: Option<Vec<String>>,
    /// Before the games of a session stands what each of them is.
    identities: Option<Vec<String>>,
}

pub(super) fn read(source: &Source<'_>, results: &mut Results) -> Result<(), ResultsError> {
    let (mut games, mut players): (Vec<ArenaGame>, Vec<String>) = (Vec::new(), Vec::new());
    let lines = source.text.split_inclusive('\n').enumerate();
    for (n, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |error: serde_json::Error| {
            let reason = format!("not a line of a journal ({error}); mend it or take it out");
            source.wrong(n + 1, reason)
        };
        let kind: Line = match serde_json::from_str(line) {
            Ok(kind) => kind,
            Err(_) if !line.ends_with('\n') && n > 0 => {
                results.notes.push(format!(
                    "{}: the last line was cut while it was written, and its game is left out",
                    source.path.display()
                ));
                continue;
            }
            Err(error) => return Err(wrong(error)),
        };
        if kind.black.is_some() {
            let game: ArenaGame = serde_json::from_str(line).map_err(wrong)?;
            let named = results.players_of(&game.black, &game.white);
            named.map_err(|reason| source.wrong(n + 1, reason))?;
            games.push(game);
        } else if let Some(identities) = kind.identities {
            for (name, identity) in players.iter().zip(identities) {
                results.identities.entry(name.clone()).or_default().insert(identity);
            }
        } else if let Some(names) = kind.players {
            players = names;
        }
    }
    results.add(&games).map_err(|error| source.wrong(1, error.to_string()))
}
