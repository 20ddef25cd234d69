//! Everyday names of processors' designs, by maker, family and model. docs/processor.md has the same table.

/// The name of a design; `None` for one that is not in the tables. `numbers` are family, model and stepping,
/// as CPUID has them. `avx_vnni` tells a Granite Rapids in a virtual machine from a Rocket Lake: both may say
/// that they are model a7.
pub fn name(maker: &str, numbers: [u32; 3], avx_vnni: bool) -> Option<&'static str> {
    let [family, model, stepping] = numbers;
    Some(match (maker, family) {
        ("AuthenticAMD", 0x17) => match model {
            0x00..=0x2f | 0x50..=0x5f => "Zen",
            0x30..=0x4f | 0x60..=0x7f | 0x90..=0x91 | 0xa0..=0xaf => "Zen 2",
            _ => return None,
        },
        ("AuthenticAMD", 0x19) => match model {
            0x00..=0x0f | 0x20..=0x5f => "Zen 3",
            0x10..=0x1f | 0x60..=0xaf => "Zen 4",
            _ => return None,
        },
        ("AuthenticAMD", 0x1a) => match model {
            0x00..=0x2f | 0x40..=0x4f | 0x60..=0x7f => "Zen 5",
            _ => return None,
        },
        ("GenuineIntel", 6) => match (model, stepping) {
            (0x3c | 0x3f | 0x45 | 0x46, _) => "Haswell",
            (0x3d | 0x47 | 0x4f | 0x56, _) => "Broadwell",
            (0x55, 0..=4) => "Skylake-SP",
            (0x55, 5..=7) => "Cascade Lake",
            (0x55, 10..) => "Cooper Lake",
            (0x4e | 0x5e, _) => "Skylake",
            (0x8e | 0x9e, _) => "Kaby Lake or Coffee Lake",
            (0xa5 | 0xa6, _) => "Comet Lake",
            (0x6a | 0x6c | 0x7d | 0x7e, _) => "Ice Lake",
            (0x8c | 0x8d, _) => "Tiger Lake",
            (0xa7, _) if !avx_vnni => "Rocket Lake",
            (0x97 | 0x9a, _) => "Alder Lake",
            (0xb7 | 0xba | 0xbf, _) => "Raptor Lake",
            (0x8f, _) => "Sapphire Rapids",
            (0xcf, _) => "Emerald Rapids",
            (0xa7 | 0xad | 0xae, _) => "Granite Rapids",
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_processors_have_their_names() {
        const AMD: &str = "AuthenticAMD";
        const INTEL: &str = "GenuineIntel";
        // EPYC 7601, 7742, 7763, 9654 and 9755; Xeon E5-2680 v3, E5-2690 v4, 8175M, 8275CL, 8375C, 8480, 8592
        // and 6980P; and what a virtual Granite Rapids says of itself.
        for (maker, numbers, avx_vnni, expected) in [
            (AMD, [0x17, 0x01, 2], false, "Zen"),
            (AMD, [0x17, 0x31, 0], false, "Zen 2"),
            (AMD, [0x19, 0x01, 1], false, "Zen 3"),
            (AMD, [0x19, 0x11, 1], false, "Zen 4"),
            (AMD, [0x1a, 0x02, 1], true, "Zen 5"),
            (INTEL, [6, 0x3f, 2], false, "Haswell"),
            (INTEL, [6, 0x4f, 1], false, "Broadwell"),
            (INTEL, [6, 0x55, 4], false, "Skylake-SP"),
            (INTEL, [6, 0x55, 7], false, "Cascade Lake"),
            (INTEL, [6, 0x6a, 6], false, "Ice Lake"),
            (INTEL, [6, 0x8f, 8], true, "Sapphire Rapids"),
            (INTEL, [6, 0xcf, 2], true, "Emerald Rapids"),
            (INTEL, [6, 0xad, 1], true, "Granite Rapids"),
            (INTEL, [6, 0xa7, 1], true, "Granite Rapids"),
            (INTEL, [6, 0xa7, 1], false, "Rocket Lake"),
        ] {
            assert_eq!(name(maker, numbers, avx_vnni), Some(expected), "{maker} {numbers:x?}");
        }
    }

    #[test]
    fn other_processors_have_none() {
        for (maker, numbers) in [
            ("AuthenticAMD", [0x19, 0xff, 0]),
            ("GenuineIntel", [6, 0x0f, 0]),
            ("GenuineIntel", [6, 0x55, 8]),
        ] {
            assert_eq!(name(maker, numbers, false), None, "{maker} {numbers:x?}");
        }
        assert_eq!(name("Another", [0x19, 0x11, 1], false), None);
    }
}
