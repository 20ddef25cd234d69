use super::*;

/// A parameter over some bytes.
fn over(data_type: c_uint, bytes: &mut [u8]) -> Param {
    Param::new(c"x".as_ptr(), data_type, bytes.as_mut_ptr().cast(), bytes.len())
}

#[test]
#[cfg(target_endian = "little")]
fn integers_of_every_length() {
    let int = |data_type, bytes: &[u8]| over(data_type, &mut bytes.to_vec()).int();
    assert_eq!(int(INTEGER, &[0xff]), Some(-1));
    assert_eq!(int(INTEGER, &[0xfe, 0xff, 0xff, 0xff]), Some(-2));
    assert_eq!(int(INTEGER, &[0; 8]), Some(0));
    assert_eq!(int(INTEGER, &[0xff; 16]), Some(-1));
    assert_eq!(int(INTEGER, &[0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
    assert_eq!(int(UNSIGNED, &[0xff]), Some(255));
    assert_eq!(int(UNSIGNED, &[0xff; 8]), None);
    assert_eq!(int(UNSIGNED, &[1, 2, 0, 0, 0, 0, 0, 0, 0]), Some(0x201));
    assert_eq!(int(UNSIGNED, &[]), None);
    assert_eq!(int(UTF8_STRING, &[1]), None);
}

#[test]
#[cfg(target_endian = "little")]
fn integers_are_put_into_what_is_there() {
    let put = |data_type, size: usize, value| {
        let mut bytes = vec![0xaa; size];
        over(data_type, &mut bytes).put_int(value).then_some(bytes)
    };
    assert_eq!(put(INTEGER, 4, -2), Some(vec![0xfe, 0xff, 0xff, 0xff]));
    assert_eq!(put(INTEGER, 1, 127), Some(vec![127]));
    assert_eq!(put(INTEGER, 1, 128), None);
    assert_eq!(put(INTEGER, 1, -128), Some(vec![0x80]));
    assert_eq!(put(UNSIGNED, 1, 255), Some(vec![255]));
    assert_eq!(put(UNSIGNED, 1, 256), None);
    assert_eq!(put(UNSIGNED, 4, -1), None);
    assert_eq!(put(UNSIGNED, 16, 5).map(|bytes| bytes.iter().map(|&byte| u32::from(byte)).sum()), Some(5));
    assert_eq!(put(UNSIGNED, 0, 0), None);
    assert_eq!(put(OCTET_STRING, 4, 0), None);
}

#[test]
#[cfg(target_endian = "little")]
fn numbers_are_padded_and_stripped() {
    let mut bytes = [0xaa; 6];
    assert!(over(UNSIGNED, &mut bytes).put_number(&[1, 2, 3]));
    assert_eq!(bytes, [3, 2, 1, 0, 0, 0]);
    assert_eq!(over(UNSIGNED, &mut bytes).number().as_deref(), Some(&vec![1, 2, 3]));
    assert!(!over(UNSIGNED, &mut bytes[..2]).put_number(&[1, 2, 3]));
    assert_eq!(over(UNSIGNED, &mut [0; 3]).number().as_deref(), Some(&vec![]));
    // Without space, it reports how much is needed.
    let mut asked = Param::describe_unsigned(c"x");
    assert!(asked.put_number(&[1, 2, 3]));
    assert_eq!(asked.return_size, 3);
}

#[test]
fn text_ends_at_its_zero_and_fits_or_fails() {
    let mut bytes = *b"ab\0c";
    assert_eq!(over(UTF8_STRING, &mut bytes).text(), Some("ab"));
    assert!(over(UTF8_STRING, &mut bytes).put_text("xyz"));
    assert_eq!(bytes, *b"xyz\0");
    assert!(!over(UTF8_STRING, &mut bytes).put_text("much too long"));
    assert_eq!(over(OCTET_STRING, &mut bytes).text(), None);
}
