//! Products without leaving Montgomery's domain: a power by squares and products, in all lanes at once.

use zariz::{Modulus, Residues};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The prime 2^521 − 1, and a lane for each of 1, 2, 3, …
    let modulus = Modulus::new(&[&[0x01][..], &[0xff; 65]].concat())?;
    let lanes = modulus.engine().lanes() as u8;
    let bases: Vec<[u8; 1]> = (1..=lanes).map(|base| [base]).collect();
    let bases: Vec<&[u8]> = bases.iter().map(|base| &base[..]).collect();
    let moduli = vec![&modulus; bases.len()];

    // x^100 = ((x²·x)^8·x)^4, in all lanes at once. Nothing is converted between the products.
    let x = Residues::new(&moduli, &bases)?;
    let mut power = x.clone();
    power.square();
    power.multiply(&x)?;
    (0..3).for_each(|_| power.square());
    power.multiply(&x)?;
    (0..2).for_each(|_| power.square());

    assert_eq!(power.to_bytes(), modulus.pow_batch(&bases, &[100]));
    println!("{} numbers on {}: x^100 by 6 squares and 2 products", power.len(), modulus.engine());

    // Factors must have the same moduli.
    let other = Modulus::new(&[35])?;
    if let Err(error) = power.multiply(&Residues::new(&[&other], &[&[2]])?) {
        println!("another modulus: {error}");
    }
    Ok(())
}
