//! Searches that look into endgame tables.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rand::RngExt;
use surakarta_game::{Color, Game, OLYMPIAD, Outcome, Position, Variant};
use surakarta_net::{Batch, Evaluator, EvaluatorError};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, EngineSpec, Limits, MctsConfig, MctsPlayer, Method, NetRef,
    Player, PlayerSpec, Proof, RandomPlayer, Root, Search, SearchConfig, Step, Supply,
    alphabeta::DECIDED, stream,
};
use surakarta_tablebase::{Class, Index, Tables, Value, build};

fn built(pieces: u32) -> Arc<Tables> {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), Variant::Standard, pieces, &()).unwrap();
    // What is mapped stays when the folder goes.
    Arc::new(Tables::open(folder.path()).unwrap())
}

/// Tables of up to four pieces, which the searches get.
fn four() -> Arc<Tables> {
    static TABLES: OnceLock<Arc<Tables>> = OnceLock::new();
    TABLES.get_or_init(|| built(4)).clone()
}

/// Thinks nothing of any move or side.
struct Even;

impl Evaluator for Even {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        for at in 0..batch.len() {
            let (_, moves, policy, outlook) = batch.item_mut(at);
            policy.fill(1.0 / moves.len() as f32);
            outlook.wdl = [0.0, 1.0, 0.0];
        }
        Ok(())
    }
}

/// Positions of a class just after a capture, drawn.
fn drawn(class: Class, count: usize, seed: u64) -> Vec<Position> {
    let index = Index::new(Variant::Standard, class);
    let rng = &mut stream(seed, [class.own.into(), class.enemy.into(), 0]);
    (0..count).map(|_| index.position(rng.random_range(0..index.len()))).collect()
}

fn searched(position: Position, config: &SearchConfig, tables: Option<Arc<Tables>>) -> Search {
    let mut search = Search::new(config.clone());
    if let Some(tables) = tables {
        search = search.with_tables(tables);
    }
    let game = Game::from_position(OLYMPIAD, position);
    let mut batch = Batch::default();
    search.begin(&game, Root { simulations: 300, noise: false }, &mut stream(1, [0, 0, 0]));
    while let Step::Leaf(at) = search.step(&mut batch) {
        Even.evaluate(&mut batch).unwrap();
        search.accept(&batch, at);
        batch.clear();
    }
    search
}

#[test]
fn tree_searches_prove_more_and_nothing_false() {
    let (tables, truth) = (four(), built(5));
    let config = MctsConfig::default().search;
    let (mut with, mut without) = (0, 0);
    for class in [(2, 3), (3, 2)].map(|(own, enemy)| Class { own, enemy }) {
        for position in drawn(class, 150, 1) {
            let value = truth.prove(&position, &OLYMPIAD).unwrap();
            let search = searched(position, &config, Some(tables.clone()));
            if let Some(proof) = search.proof() {
                let proven = match proof {
                    Proof::Loss => Value::Loss,
                    Proof::Draw => Value::Draw,
                    Proof::Win => Value::Win,
                };
                assert_eq!(proven, value, "{position}");
                with += 1;
            }
            without += searched(position, &config, None).proof().is_some() as u32;
        }
    }
    assert!(with > without + 50, "{with} {without}");
}

#[test]
fn searches_without_proofs_take_the_values() {
    let tables = four();
    let puct = SearchConfig::default();
    let gumbel = SearchConfig { method: Method::Gumbel, ..puct.clone() };
    for config in [gumbel, puct] {
        let [mut with, mut without] = [0; 2];
        let positions = drawn(Class { own: 2, enemy: 2 }, 100, 2);
        for &position in &positions {
            let moves = tables.moves(&position);
            let keeps = |search: Search| {
                assert_eq!(search.proof(), None);
                let played = moves.iter().find(|(mv, _)| Some(*mv) == search.best()).unwrap();
                (played.1.value == moves[0].1.value) as u32
            };
            with += keeps(searched(position, &config, Some(tables.clone())));
            without += keeps(searched(position, &config, None));
        }
        assert!(with > 80 && with > without + 40, "{with} {without}");
    }
}

#[test]
fn alpha_beta_decides_more_and_nothing_falsely() {
    let (tables, truth) = (four(), built(5));
    for exact in [false, true] {
        let config = || AlphaBetaConfig { exact, table_mib: 1, ..AlphaBetaConfig::default() };
        let (mut with, mut without) = (0, 0);
        let limits = Limits { nodes: Some(3000), ..Limits::default() };
        for class in [(2, 3), (3, 2)].map(|(own, enemy)| Class { own, enemy }) {
            for position in drawn(class, 100, 3) {
                let value = truth.prove(&position, &OLYMPIAD).unwrap();
                let game = Game::from_position(OLYMPIAD, position);
                let mut player = AlphaBetaPlayer::new(config()).with_tables(tables.clone());
                let found = player.analyse(&game, &limits).unwrap();
                if found.score.abs() > DECIDED {
                    assert_eq!(found.score.signum(), value.sign() as i32, "{position}");
                    with += 1;
                }
                let mut plain = AlphaBetaPlayer::new(config());
                let score = plain.analyse(&game, &limits).unwrap().score;
                without += (score.abs() > DECIDED) as u32;
            }
        }
        assert!(with > without + 20, "exact {exact}: {with} {without}");
    }
}

#[test]
fn what_is_won_by_the_tables_is_won_on_the_board() {
    let tables = four();
    let search =
        || Box::new(MctsPlayer::new(MctsConfig::default(), Box::new(Even)).with_tables(four()));
    let alphabeta =
        || Box::new(AlphaBetaPlayer::new(AlphaBetaConfig::default()).with_tables(four()));
    let players: [Box<dyn Player>; 2] = [search(), alphabeta()];
    for (number, mut player) in players.into_iter().enumerate() {
        let mut won = 0;
        for class in [(1, 2), (2, 2), (2, 1), (3, 1)].map(|(own, enemy)| Class { own, enemy }) {
            for position in drawn(class, 25, 4) {
                if tables.prove(&position, &OLYMPIAD) != Some(Value::Win) {
                    continue;
                }
                won += 1;
                let mut opponent = RandomPlayer::new(Default::default());
                let mut game = Game::from_position(OLYMPIAD, position);
                player.new_game(won);
                opponent.new_game(won);
                while game.result().is_none() {
                    let choice = match game.side_to_move() {
                        Color::Black => player.choose(&game, &Limits::default()),
                        Color::White => opponent.choose(&game, &Limits::default()),
                    };
                    game.play(choice.unwrap().mv).unwrap();
                }
                let outcome = game.result().unwrap().outcome;
                assert_eq!(outcome, Outcome::Win(Color::Black), "player {number}, {position}");
            }
        }
        assert!(won > 50, "{won}");
    }
}

/// Has tables and networks.
struct Store;

impl Supply for Store {
    type Error = String;

    fn network(&mut self, _: &NetRef, _: usize) -> Result<Box<dyn Evaluator>, String> {
        Ok(Box::new(Even))
    }

    fn tables(&mut self, folder: &Path) -> Result<Arc<Tables>, String> {
        if folder == Path::new("tables") { Ok(four()) } else { Err(folder.display().to_string()) }
    }

    fn engine(&mut self, _: &EngineSpec) -> Result<Box<dyn Player>, String> {
        Err("no programs".to_owned())
    }
}

#[test]
fn players_are_given_the_tables_that_their_string_names() {
    for text in ["mcts:net=best,sims=50,tables=tables", "alphabeta:nodes=300,tables=tables"] {
        let spec: PlayerSpec = text.parse().unwrap();
        assert_eq!(spec.tables(), Some(Path::new("tables")));
        let value = |text: &str, position: &Position| {
            let spec: PlayerSpec = text.parse().unwrap();
            let game = Game::from_position(OLYMPIAD, *position);
            let choice = spec.build(&mut Store).unwrap().choose(&game, &Limits::default());
            choice.unwrap().value.unwrap()
        };
        let plain = text.strip_suffix(",tables=tables").unwrap();
        let mut won = drawn(Class { own: 2, enemy: 2 }, 100, 5);
        won.retain(|position| four().prove(position, &OLYMPIAD) == Some(Value::Win));
        assert!(won.iter().any(|p| value(text, p) > value(plain, p) + 0.2), "{text}");
        let other: PlayerSpec = text.replace("=tables", "=elsewhere").parse().unwrap();
        assert_eq!(other.build(&mut Store).err(), Some("elsewhere".to_owned()));
    }
}
