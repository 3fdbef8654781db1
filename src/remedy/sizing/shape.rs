//! Shapes of samples as people write them: `3x224x224:f32,1:i64`, or `[3, 224, 224]:torch.float32`.

use nom::branch::alt;
use nom::bytes::complete::take_while1;
use nom::character::complete::{char, digit1, multispace0, one_of};
use nom::combinator::{all_consuming, opt};
use nom::multi::separated_list1;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// A right one, for error messages.
const EXAMPLE: &str = "3x224x224:f32,1:i64";

/// Bytes of an element by the names that PyTorch and people give to its type.
const DTYPES: &[(u64, &[&str])] = &[
    (1, &["uint8", "u8", "byte", "int8", "i8", "char", "bool", "float8_e4m3fn", "float8_e5m2", "float8", "f8", "fp8"]),
    (2, &["float16", "f16", "fp16", "half", "bfloat16", "bf16", "int16", "i16", "short", "uint16", "u16"]),
    (4, &["float32", "f32", "fp32", "float", "int32", "i32", "int", "uint32", "u32", "complex32", "c32", "chalf"]),
    (8, &["float64", "f64", "fp64", "double", "int64", "i64", "long", "uint64", "u64", "complex64", "c64", "cfloat"]),
    (16, &["complex128", "c128", "cdouble"]),
];

/// One tensor of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its bytes.
    pub bytes: u64,
    /// As it was written.
    pub text: String,
}

/// Reads the tensors of a sample; a type that is left out is float32, as PyTorch's default is.
pub fn tensors(text: &str) -> Result<Vec<Tensor>, String> {
    if text.trim().is_empty() {
        return Err(format!("the sample is empty: write it as {EXAMPLE}"));
    }
    let (_, list) = all_consuming(separated_list1(spaced(','), one)).parse(text.trim()).map_err(|_| {
        format!("`{text}` is not a sample: write sizes with x between them, a colon and a type, and commas between tensors, as {EXAMPLE}")
    })?;
    list.into_iter().map(tensor).collect()
}

/// A character with blanks around it.
fn spaced<'a>(c: char) -> impl Parser<&'a str, Output = char, Error = nom::error::Error<&'a str>> {
    delimited(multispace0, char(c), multispace0)
}

/// A tensor as it stands in the text: its sizes and the name of its type.
struct Written<'a> {
    sizes: Vec<&'a str>,
    dtype: Option<&'a str>,
}

fn one(text: &str) -> IResult<&str, Written<'_>> {
    let crossed = separated_list1(delimited(multispace0, one_of("xX×*"), multispace0), digit1);
    let square = delimited((char('['), multispace0), separated_list1(spaced(','), digit1), (multispace0, char(']')));
    let round =
        delimited((char('('), multispace0), separated_list1(spaced(','), digit1), (opt(spaced(',')), multispace0, char(')')));
    let dtype = take_while1(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let mut whole = (alt((crossed, square, round)), opt(preceded(spaced(':'), dtype)));
    let (rest, (sizes, dtype)) = whole.parse(text)?;
    Ok((rest, Written { sizes, dtype }))
}

/// The bytes of a tensor.
fn tensor(written: Written<'_>) -> Result<Tensor, String> {
    let name = written.dtype.unwrap_or("float32");
    let width = width(name)?;
    let shape = written.sizes.join("x");
    let mut bytes = width;
    for size in &written.sizes {
        let size: u64 = size.parse().map_err(|_| format!("`{size}` in `{shape}` is too large for a size"))?;
        if size == 0 {
            return Err(format!("`{shape}` has a size of 0: a sample without elements takes no memory; write it as {EXAMPLE}"));
        }
        bytes = bytes.checked_mul(size).ok_or_else(|| format!("`{shape}` is too large: no machine has so much memory"))?;
    }
    Ok(Tensor { bytes, text: format!("{shape}:{name}") })
}

/// The bytes of an element.
fn width(name: &str) -> Result<u64, String> {
    let lower = name.to_ascii_lowercase();
    let short = lower.strip_prefix("torch.").or_else(|| lower.strip_prefix("np.")).unwrap_or(&lower);
    let known = DTYPES.iter().find(|(_, names)| names.contains(&short));
    known.map(|(width, _)| *width).ok_or_else(|| {
        format!("`{name}` is not a type that PyTorch has: one is f32, f16, bf16, f64, u8, i8, i16, i32, i64, bool or a torch name as float32")
    })
}

/// How storages become shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Bytes that the sharing strategy puts before a storage: 64 with `file_system`.
    pub header: u64,
    /// Bytes of a page.
    pub page: u64,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { header: 0, page: 4096 }
    }
}

impl Sharing {
    /// The shared memory of one storage: whole pages, and none at all for nothing.
    pub fn storage(self, bytes: u64) -> Option<u64> {
        let whole = bytes.checked_add(self.header)?;
        whole.div_ceil(self.page.max(1)).checked_mul(self.page.max(1))
    }

    /// The shared memory of a batch: each tensor is stacked to one storage, or, in a list of samples, each sample's is its own.
    pub fn batch(self, tensors: &[Tensor], samples: u64, list: bool) -> Option<u64> {
        tensors.iter().try_fold(0_u64, |sum, tensor| {
            let bytes = match list {
                true => self.storage(tensor.bytes)?.checked_mul(samples)?,
                false => self.storage(tensor.bytes.checked_mul(samples)?)?,
            };
            sum.checked_add(bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn shapes_are_read_in_all_usual_spellings() {
        for (text, bytes) in [
            ("3x224x224:f32", &[602_112][..]),
            ("3x224x224", &[602_112]),
            ("3×224×224:torch.float32", &[602_112]),
            ("[3, 224, 224]:torch.uint8", &[150_528]),
            ("(3,224,224):half", &[301_056]),
            ("(7,):bool", &[7]),
            ("3x224x224:f32,1:i64", &[602_112, 8]),
            (" 512:bf16 , [2,2] : torch.complex128 ", &[1024, 64]),
        ] {
            let read: Vec<u64> = tensors(text).expect(text).iter().map(|tensor| tensor.bytes).collect();
            assert_eq!(read, bytes, "{text}");
        }
    }

    #[test]
    fn wrong_shapes_say_what_is_wrong() {
        for (text, why) in [
            ("", "is empty"),
            ("3x", "is not a sample"),
            ("-3x224", "is not a sample"),
            ("3x224x224:f33", "`f33` is not a type"),
            ("3x0x224", "a size of 0"),
            ("99999999999x99999999999", "is too large"),
            ("99999999999999999999999", "is too large"),
            ("3x224x224:f32,", "is not a sample"),
            ("3.5x2", "is not a sample"),
        ] {
            let error = tensors(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn storages_are_rounded_up_to_pages() {
        let plain = Sharing::default();
        let headed = Sharing { header: 64, page: 4096 };
        assert_eq!((plain.storage(0), plain.storage(1), plain.storage(4096)), (Some(0), Some(4096), Some(4096)));
        assert_eq!((headed.storage(0), headed.storage(4032), headed.storage(4033)), (Some(4096), Some(4096), Some(8192)));
        assert_eq!(Sharing { header: 0, page: 65_536 }.storage(1), Some(65_536));
        let sample = tensors("3x224x224:f32,1:i64").expect("it is right");
        assert_eq!(plain.batch(&sample, 64, false), Some(38_535_168 + 4096));
        assert_eq!(plain.batch(&sample, 64, true), Some(64 * (602_112 + 4096)));
        assert_eq!(plain.batch(&sample, u64::MAX, false), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = tensors(&text);
        }

        #[test]
        fn written_shapes_come_back(sizes in proptest::collection::vec(1_u64..5000, 1..4), wide in 0_usize..5) {
            let (width, names) = DTYPES[wide];
            for name in names {
                let text = format!("{}:{name}", sizes.iter().map(u64::to_string).collect::<Vec<_>>().join("x"));
                let read = tensors(&text).expect("it is right");
                prop_assert_eq!(read.len(), 1);
                prop_assert_eq!(read[0].bytes, sizes.iter().product::<u64>() * width);
            }
        }

        #[test]
        fn a_storage_takes_the_fewest_whole_pages(bytes in 1_u64..1 << 40, header in 0_u64..2, shift in 12_u32..17) {
            let sharing = Sharing { header: header * 64, page: 1 << shift };
            let taken = sharing.storage(bytes).expect("it fits");
            prop_assert_eq!(taken % sharing.page, 0);
            prop_assert!(taken >= bytes + sharing.header && taken - sharing.page < bytes + sharing.header);
        }
    }
}
