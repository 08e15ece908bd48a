//! Kinds of processors, chosen when the program runs.

/// The same arithmetic, compiled for one kind of processor. A value exists only on a processor that
/// can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Target);

/// The kinds of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// Those that this processor can run, fastest last. AVX-512 is one with VNNI, its sums of products
    /// of bytes: processors without are few and old, and AVX2 serves them.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = vec![Kernel(Target::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("popcnt");
            if avx2 {
                kernels.push(Kernel(Target::Avx2));
            }
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni");
            if avx2 && avx512 {
                kernels.push(Kernel(Target::Avx512));
            }
        }
        kernels
    }

    /// The fastest one that this processor can run.
    pub fn best() -> Kernel {
        *Kernel::available().last().expect("one is portable")
    }

    pub(crate) fn target(self) -> Target {
        self.0
    }

    /// `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Target::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Target::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Target::Avx512 => "avx512",
        }
    }
}

/// Defines a function of a kernel and these arguments, which runs an instance of a generic function,
/// another one for each kind of processor, compiled for it. That one must be `#[inline(always)]`, and so
/// must all that it calls.
macro_rules! for_each_kernel {
    (
        fn $name:ident($($arg:ident: $type:ty),* $(,)?);
        portable: $portable:expr, avx2: $avx2:expr, avx512: $avx512:expr $(,)?
    ) => {
        fn $name(kernel: $crate::kernel::Kernel, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,popcnt")]
            fn avx2($($arg: $type),*) {
                $avx2($($arg),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,bmi1,popcnt"
            )]
            fn avx512($($arg: $type),*) {
                $avx512($($arg),*);
            }

            match kernel.target() {
                $crate::kernel::Target::Portable => $portable($($arg),*),
                // SAFETY: a kernel exists only where `Kernel::available` found its features.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Target::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Target::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}
pub(crate) use for_each_kernel;
