//! Bytes there and back, directly and through staging.

mod rig;

use pumice_gpu::{Device, Error, Options, Transfers};
use rig::{Mix, TestDevice};

const MIB: usize = 1 << 20;

fn each_way(test: impl Fn(&TestDevice)) {
    for transfers in [Transfers::Automatic, Transfers::Staged] {
        let Some(device) = rig::device_with(Options { transfers, ..Options::default() }) else { return };
        test(&device);
    }
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + at / 251 + seed) as u8).collect()
}

fn there_and_back(device: &Device, len: usize, offset: usize) {
    let buffer = device.allocate((len + 2 * offset) as u64).unwrap();
    let sent = pattern(len, offset);
    device.upload(&buffer, offset as u64, &sent).unwrap();
    let mut received = vec![0; len];
    device.download(&buffer, offset as u64, &mut received).unwrap();
    assert!(sent == received, "{len} bytes at {offset}");
}

#[test]
fn every_size_and_offset_arrives() {
    each_way(|device| {
        for len in [1, 3, 4, 255, 4096, MIB + 1, 8 * MIB, 8 * MIB + 1, 40 * MIB + 12345] {
            there_and_back(device, len, 0);
            there_and_back(device, len, 5);
        }
    });
}

#[test]
fn bytes_around_the_range_stay() {
    each_way(|device| {
        let buffer = device.allocate(64).unwrap();
        device.upload(&buffer, 0, &[9; 64]).unwrap();
        device.upload(&buffer, 7, &[1, 2, 3]).unwrap();
        let mut all = [0; 64];
        device.download(&buffer, 0, &mut all).unwrap();
        assert_eq!(all[5..12], [9, 9, 1, 2, 3, 9, 9]);
    });
}

#[test]
fn a_download_sees_what_kernels_wrote_and_kernels_see_uploads() {
    each_way(|device| {
        let (stream, mix) = (device.stream().unwrap(), rig::mix(device));
        let (buffers, mut expected) = rig::buffers(device, &stream, 2);
        for round in 0..20 {
            let step = Mix { src: 0, dst: 1, multiply: 3, add: round };
            step.launch(&stream, &mix, &buffers).unwrap();
            step.apply(&mut expected);
            assert_eq!(rig::download(&stream, &buffers[1]), expected[1]);
            expected[0][0] = round;
            stream.upload(&buffers[0], 0, &round.to_ne_bytes()).unwrap();
        }
    });
}

#[test]
fn an_upload_waits_for_the_work_that_reads_the_buffer() {
    each_way(|device| {
        let stream = device.stream().unwrap();
        let (from, to) = (device.allocate(32 << 20).unwrap(), device.allocate(32 << 20).unwrap());
        stream.fill(&from, 0, 32 << 20, 0x0101_0101).unwrap();
        stream.copy(&from, 0, &to, 0, 32 << 20).unwrap();
        stream.commit().unwrap();
        device.upload(&from, 0, &vec![7; 32 << 20]).unwrap();
        let mut copied = vec![0; 32 << 20];
        device.download(&to, 0, &mut copied).unwrap();
        assert!(copied.iter().all(|&byte| byte == 1));
    });
}

#[test]
fn a_range_outside_the_buffer_is_refused() {
    each_way(|device| {
        let buffer = device.allocate(100).unwrap();
        let error = device.upload(&buffer, 90, &[0; 11]).unwrap_err();
        assert_eq!(error.to_string(), "[upload] 11 bytes at 90 must lie in the buffer but it has 100 bytes.");
        assert!(matches!(device.download(&buffer, u64::MAX, &mut [0; 2]), Err(Error::InvalidArgument(_))));
    });
}

#[test]
fn threads_transfer_side_by_side() {
    each_way(|device| {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let device: &Device = device;
                scope.spawn(move || (0..20).for_each(|round| there_and_back(device, 10_000 * (round + 1), thread)));
            }
        });
    });
}

#[test]
fn transferred_bytes_are_counted() {
    each_way(|device| {
        there_and_back(device, 1000, 0);
        let stats = device.stats();
        assert_eq!((stats.bytes_uploaded, stats.bytes_downloaded), (1000, 1000));
    });
}

#[test]
fn bytes_are_read_in_place_where_nobody_can_write_them() {
    let Some(device) = rig::device() else { return };
    if !device.is_unified() {
        return;
    }
    let stream = device.stream().unwrap();
    let buffer = device.allocate(64).unwrap();
    stream.fill(&buffer, 0, 64, 0x0101_0101).unwrap();
    assert!(device.read_mapped(&buffer).is_none(), "recorded work holds it");
    stream.synchronize().unwrap();
    let (one, two) = (device.read_mapped(&buffer).unwrap(), device.read_mapped(&buffer).unwrap());
    assert!(one.bytes() == [1; 64] && two.bytes() == [1; 64]);
    drop(one);
    let other = device.allocate(64).unwrap();
    for refused in
        [stream.fill(&buffer, 0, 64, 0), stream.copy(&other, 0, &buffer, 0, 64), device.upload(&buffer, 0, &[2; 64])]
    {
        assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
    }
    stream.copy(&buffer, 0, &other, 0, 64).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(two.bytes(), [1; 64]);
    drop(two);
    device.upload(&buffer, 0, &[2; 64]).unwrap();
    let another = buffer.clone();
    assert!(device.read_mapped(&buffer).is_none(), "another handle could write it");
    drop(another);
    assert_eq!(device.read_mapped(&buffer).unwrap().bytes(), [2; 64]);
    let mut copied = [0; 64];
    device.download(&other, 0, &mut copied).unwrap();
    assert_eq!(copied, [1; 64]);
}
