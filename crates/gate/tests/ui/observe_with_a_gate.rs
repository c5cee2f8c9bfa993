use horngate_gate::{Gate, Observer};

fn deploy(observer: Observer) -> Gate {
    observer
}

fn main() {}
