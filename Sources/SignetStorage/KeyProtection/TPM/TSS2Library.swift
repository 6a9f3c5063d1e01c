#if canImport(CTSS2) && canImport(Glibc)
import CTSS2

/// The functions of tpm2-tss, loaded at the first use of a TPM.
///
/// They are not linked, so that a program also starts without the library.
struct TSS2Library: Sendable {
    let functions: CTSS2Functions

    /// The file names of the libraries, with their ABI versions.
    ///
    /// The headers match only these versions.
    struct Names: Sendable {
        var esys = "libtss2-esys.so.0"
        var tctildr = "libtss2-tctildr.so.0"
        var mu = "libtss2-mu.so.0"
    }

    /// The functions for this process, or the error if they cannot be loaded.
    static let shared = Result { () throws(StoreError) in try TSS2Library(Names()) }

    init(_ names: Names) throws(StoreError) {
        var functions = CTSS2Functions()
        var reasons = [CChar](repeating: 0, count: 1024)
        let isLoaded = names.esys.withCString { esys in
            names.tctildr.withCString { tctildr in
                names.mu.withCString { mu in
                    ctss2_load(
                        &functions, CTSS2Libraries(esys: esys, tctildr: tctildr, mu: mu), &reasons, reasons.count)
                }
            }
        }
        guard isLoaded else {
            let text = String(decoding: reasons.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // The text names each library that is missing, so the advice names only a package that brings all of them.
            throw StoreError(
                .keyUnavailable, "load tpm2-tss", "\(text); install tpm2-tss, e.g. with: apt-get install tpm2-tools")
        }
        self.functions = functions
    }
}
#endif
