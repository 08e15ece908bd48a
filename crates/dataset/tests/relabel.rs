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
use surakarta_tablebase::{Class, Index, Tables, Value, build};

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
    build(&path("tables"), Variant::Standard, 5, &()).unwrap();
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
        let note = &header.settings["relabelled by tables"];
        assert_eq!(*note, tables.identity(Variant::Standard));
        assert!(note.starts_with("up to 5 pieces, "), "{note}");
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
    // A resignation that was wrong is put right where the game stands, and one that was right stays.
    let index = Index::new(Variant::Standard, Class { own: 2, enemy: 1 });
    let counted = (0..index.len()).map(|number| index.position(number));
    let lasting = counted.flat_map(|start| start.moves().into_iter().map(move |mv| (start, mv)));
    let (start, mv) = lasting
        .filter(|(start, mv)| !start.is_capture(*mv))
        .find(|(start, mv)| tables.prove(&start.after(*mv), &OLYMPIAD) == Some(Value::Loss))
        .unwrap();
    let resigned = |number, winner| {
        let mut game = Game::from_position(OLYMPIAD, start);
        game.play(mv).unwrap();
        game.end(Ending::Resignation, Outcome::Win(winner));
        let ply = PlyRecord::new(mv, SearchKind::Fast, 9, None, Policy::None);
        GameRecord::of(&game, number, vec![ply])
    };
    let both = [resigned(0, Color::White), resigned(1, Color::Black)];
    let shard = path(&shard_name(1, 0));
    let header = ShardHeader { iteration: 1, games: 2, ..ShardHeader::default() };
    write_shard(&shard, &header, &both).unwrap();
    let put_right = relabel(std::slice::from_ref(&shard), &tables, &path("right")).unwrap();
    assert_eq!((put_right.games, put_right.ended, put_right.turned), (2, 0, 1));
    let games = Shard::read(&list_shards(&path("right")).unwrap()[0]).unwrap().games;
    let results = games.iter().map(|game| (game.result.ending, game.result.outcome));
    let black = Outcome::Win(Color::Black);
    assert!(results.eq([(Ending::Adjudicated, black), (Ending::Resignation, black)]));
    // Under rules that the tables say nothing about nothing is written.
    let rules = "no-repeat".parse().unwrap();
    let header = ShardHeader { rules, iteration: 2, games: 0, ..ShardHeader::default() };
    let shard = path(&shard_name(2, 0));
    write_shard(&shard, &header, &[]).unwrap();
    let error = relabel(&[shard], &tables, &path("nothing")).unwrap_err().to_string();
    assert!(error.contains("prove nothing of games of standard under no-repeat"), "{error}");
    assert!(!path("nothing").exists());
    // Once more changes nothing.
    let again = relabel(&new, &tables, &path("again")).unwrap();
    assert_eq!((again.games, again.ended), (200, 0));
}
