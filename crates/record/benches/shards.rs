//! How fast shards are written and read, and batches drawn. Compare figures of one run with each other.

#[path = "../tests/games/mod.rs"]
mod games;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use surakarta_record::shard::verify;
use surakarta_record::{Shard, ShardHeader, ShardReader, Window, shard_name, write_shard};

fn shards(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(shard_name(0, 0));
    let mut random = games::stream(1);
    let games: Vec<_> = (0..512).map(|number| games::typical_game(number, &mut random)).collect();
    let header = ShardHeader { games: 512, ..ShardHeader::default() };
    write_shard(&path, &header, &games).expect("a shard");
    let reader = ShardReader::open(&path).expect("a shard");
    println!(
        "{} games, {} plies, {} recorded positions of {:.1} bytes",
        games.len(),
        reader.plies(),
        reader.samples(),
        reader.bytes() as f64 / reader.samples() as f64
    );

    let mut group = criterion.benchmark_group("plies");
    group.throughput(Throughput::Elements(reader.plies()));
    group.bench_function("write_shard", |bench| {
        bench.iter(|| write_shard(&path, &header, &games));
    });
    group.bench_function("Shard::read", |bench| bench.iter(|| Shard::read(&path)));
    group.bench_function("verify", |bench| bench.iter(|| verify(&path)));
    group.finish();

    let paths = [path];
    let mut group = criterion.benchmark_group("samples");
    group.throughput(Throughput::Elements(reader.samples()));
    group.bench_function("Window::load", |bench| {
        bench.iter(|| Window::default().load(&paths, usize::MAX));
    });
    let mut window = Window::default();
    window.load(&paths, usize::MAX);
    println!("{} bytes a sample in memory", window.bytes() / window.len());
    group.throughput(Throughput::Elements(512));
    let mut step = 0;
    group.bench_function("Window::batch", |bench| {
        bench.iter(|| {
            step += 1;
            black_box(window.batch(1, 0, step, 512))
        });
    });
    group.finish();
}

criterion_group!(benches, shards);
criterion_main!(benches);
