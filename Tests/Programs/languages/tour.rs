// Works with threads, a child and a file, for SITUATION_SECONDS and once at least.
use std::collections::HashMap;
use std::{env, fs, process, thread, time};

fn main() {
    let begin = time::Instant::now();
    let seconds: f64 = env::var("SITUATION_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let (mut size, mut said);
    loop {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                thread::spawn(|| {
                    let words: HashMap<u32, String> = (0..2000).map(|i| (i, "word ".repeat(10) + &i.to_string())).collect();
                    words.values().map(|word| word.len()).sum::<usize>()
                })
            })
            .collect();
        size = threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>();
        said = process::Command::new("sh").args(["-c", "echo from a child"]).output().unwrap().stdout;
        if begin.elapsed().as_secs_f64() >= seconds {
            break;
        }
    }
    fs::write("written", "written\n").unwrap();
    println!("{} {}", size, String::from_utf8_lossy(&said).trim());
    process::exit(7);
}
