use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use surakarta_arena::{Clusters, Repeats, Results, Standings, StandingsOptions, TableStyle};

use crate::sprt::SprtArguments;
use crate::tables::Form;

/// Rate players by the results of their games, with errors and with what may mislead.
///
/// Reads journals of this program, tables of results (CSV) and PGN, several at once. The same name is
/// the same player in every file.
///
/// A table begins with a header that names its columns: first, second and result, which is 1-0, 0-1 or
/// 1/2-1/2 as the first player sees it. Games with the same number in the column pair are a pair with
/// colours swapped. Other columns are ignored. In PGN, First and Second (else White and Black) are the
/// players, in the order in which they move; Result is seen by the one who moves first. In Surakarta
/// that is Black, and this program's own PGN has it in the tags First and White.
///
/// Elo is relative: give known players their ratings with --anchor to place new ones on their scale.
/// Errors are half of 95 % intervals. What has no finite value is shown as such, with the reason.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta rate match.jsonl
  surakarta rate games.csv more.pgn --anchor greedy=0 --markdown
  surakarta rate games.csv --versus new old --sprt 0,10
  surakarta rate games.csv --clusters games --json")]
pub(crate) struct Arguments {
    /// Journals, tables (CSV) and PGN files.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    #[command(flatten)]
    form: Form,
    /// A player's given rating, as greedy=0; several may be given. Otherwise the mean is 0.
    #[arg(long, value_name = "NAME=RATING", value_parser = anchor)]
    anchor: Vec<(String, f64)>,
    /// What errors take as independent: pairs, whose two games share an opening, or every game.
    #[arg(long, default_value = "pairs")]
    clusters: ClustersArgument,
    /// Take the advantage of the first move as zero instead of fitting it.
    #[arg(long)]
    no_first_advantage: bool,
    /// A prior: so many virtual draws of each player against one imaginary player. Gives a finite
    /// rating to those who won or lost everything, and draws all others together.
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = draws)]
    prior: f64,
    /// Games with the same players, colours and moves, up to the symmetries of the board: count the
    /// first, or all.
    #[arg(long, default_value = "once")]
    repeats: RepeatsArgument,
    /// Two players in detail, seen by the first. Of two players all in all, the one who is named first
    /// in the files.
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    versus: Option<Vec<String>>,
    #[command(flatten)]
    test: SprtArguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum ClustersArgument {
    Pairs,
    Games,
}

#[derive(Clone, Copy, ValueEnum)]
enum RepeatsArgument {
    Once,
    All,
}

fn number(text: &str) -> Result<f64, String> {
    let value = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    value.ok_or_else(|| format!("`{text}` is not a number"))
}

fn anchor(text: &str) -> Result<(String, f64), String> {
    // Names of players may hold the sign themselves.
    let (name, rating) = text.rsplit_once('=').ok_or("give a name and a rating, as greedy=0")?;
    Ok((name.to_owned(), number(rating)?))
}

fn draws(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value < 0.0 {
        return Err("it cannot be below 0".to_owned());
    }
    Ok(value)
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let options = options(&arguments)?;
    let mut results = Results::default();
    for path in &arguments.games {
        results.read(path)?;
    }
    let standings = Standings::of_results(&results, &options)?;
    if options.sprt.is_some() && standings.head_to_head.is_none() {
        bail!(
            "--sprt tests two players and there are {}; name them with --versus A B",
            results.players.len()
        );
    }
    let text = || standings.tables(TableStyle::Terminal);
    arguments.form.print(&standings, text, serde_json::Map::new())
}

fn options(arguments: &Arguments) -> Result<StandingsOptions> {
    let mut anchors = arguments.anchor.clone();
    anchors.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(twice) = anchors.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        bail!("--anchor names `{}` twice; a player has one rating", twice[0].0);
    }
    let versus = match arguments.versus.as_deref() {
        Some([a, b]) if a == b => bail!("--versus names `{a}` twice; name two players"),
        Some([a, b]) => Some((a.clone(), b.clone())),
        _ => None,
    };
    let sprt = arguments.test.test()?;
    Ok(StandingsOptions {
        first_advantage: !arguments.no_first_advantage,
        clusters: match arguments.clusters {
            ClustersArgument::Pairs => Clusters::Pairs,
            ClustersArgument::Games => Clusters::Games,
        },
        anchors,
        prior: arguments.prior,
        repeats: match arguments.repeats {
            RepeatsArgument::Once => Repeats::Once,
            RepeatsArgument::All => Repeats::All,
        },
        versus,
        sprt,
    })
}
