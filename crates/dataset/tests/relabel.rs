//! Relabelled games, against the tables asked position by position.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use surakarta_dataset::{Numbers, relabel};
use surakarta_game::{Color, Ending, Game, OLYMPIAD, Outcome, Position, Variant};
use surakarta_record::shard::{list_shards, verify};
use surakarta_record::{
    GameRecord, PlyRecord, Policy, SearchKind, Shard, ShardHeader, shard_name, write_shard,
};
use surakarta_tablebase::{Class, Index, Tables, Watch, build};

struct Silent;

impl Watch for Silent {
    fn begin(&self, _: u64) {}
    fn solved(&self, _: Class, _: usize, _: u64) {}
    fn advance(&self, _: u64) {}
    fn goes_on(&self) -> bool {
        true
    }
}

/// A random game from seven pieces.
fn endgame(number: u64, index: &Index, random: &mut ChaCha8Rng) -> GameRecord {
    let start = index.position(random.random_range(0..index.len()));
    let mut game = Game::from_position(OLYMPIAD, start);
    let mut plies = Vec::new();
    while game.result().is_none() {
        let moves = game.legal_moves();
        let mv = moves[random.random_range(0..moves.len())];
        game.play_legal(mv);
        let value = Some(random.random_range(-1.0..1.0));
        plies.push(PlyRecord::new(mv, SearchKind::Full, 9, value, Policy::Visits(vec![(mv, 9)])));
    }
    GameRecord::of(&game, number, plies)
}

#[test]
fn games_end_where_the_tables_prove_them_and_nothing_else_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir(path("tables")).unwrap();
    build(&path("tables"), Variant::Standard, 5, &Silent).unwrap();
    let tables = Tables::open(&path("tables")).unwrap();
    let index = Index::new(Variant::Standard, Class { own: 3, enemy: 3 });
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let games: Vec<GameRecord> =
        (40..240).map(|number| endgame(number, &index, &mut random)).collect();
    let header = ShardHeader { first_game: 40, games: 200, ..ShardHeader::default() };
    let shard = path(&shard_name(0, 40));
    write_shard(&shard, &header, &games).unwrap();

    let done = relabel(std::slice::from_ref(&shard), &tables, &path("new")).unwrap();
    let new = list_shards(&path("new")).unwrap();
    new.iter().for_each(|path| drop(verify(path).unwrap()));
    let shards: Vec<Shard> = new.iter().map(|path| Shard::read(path).unwrap()).collect();
    let relabelled: Vec<(u64, &GameRecord, &ShardHeader)> = shards
        .iter()
        .flat_map(|shard| {
            let numbers = Numbers::of(&shard.header);
            let name =
                move |game| (numbers.original(GameRecord::clone(game).number), game, &shard.header);
            shard.games.iter().map(name).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(relabelled.len(), games.len());
    let (mut ended, mut turned, mut gone) = (0, 0, 0);
    for (before, (number, after, header)) in games.iter().zip(relabelled) {
        assert_eq!(number, before.number);
        assert_eq!(header.settings["relabelled by tables"], "up to 5 pieces");
        let kept = after.plies.len();
        assert_eq!((after.start, &after.plies[..]), (before.start, &before.plies[..kept]));
        let proven = |position: &Position| tables.prove(position, &OLYMPIAD);
        let positions: Vec<Position> = after.positions().collect();
        assert!(positions[1..kept].iter().all(|position| proven(position).is_none()));
        if kept == before.plies.len() {
            assert_eq!(after.result, before.result);
            continue;
        }
        let last = positions[kept];
        let value = proven(&last).unwrap().sign()
            * if last.side_to_move() == Color::Black { 1 } else { -1 };
        let outcome = match value {
            1 => Outcome::Win(Color::Black),
            0 => Outcome::Draw,
            _ => Outcome::Win(Color::White),
        };
        assert_eq!((after.result.ending, after.result.outcome), (Ending::Adjudicated, outcome));
        ended += 1;
        turned += u64::from(outcome != before.result.outcome);
        gone += (before.plies.len() - kept) as u64;
    }
    assert_eq!((done.games, done.ended, done.turned, done.plies), (200, ended, turned, gone));
    assert!(ended > 100 && turned > 10, "{done:?}");
    // Once more changes nothing.
    let again = relabel(&new, &tables, &path("again")).unwrap();
    assert_eq!((again.games, again.ended), (200, 0));
}
