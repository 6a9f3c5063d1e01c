import Glibc

/// The C library behind oathtool, loaded at run time.
struct LibOATH {
    private typealias Generate =
        @convention(c) (
            _ secret: UnsafePointer<CChar>, _ length: Int, _ counter: UInt64, _ digits: UInt32, _ checksum: Bool, _ offset: Int,
            _ code: UnsafeMutablePointer<CChar>
        ) -> CInt

    private let generate: Generate

    /// `OATH_HOTP_DYNAMIC_TRUNCATION`: all bits set.
    private static let dynamicTruncation = -1

    /// Nil when the library is not here.
    init?() {
        guard let library = dlopen("liboath.so.0", RTLD_NOW), let initialize = dlsym(library, "oath_init"),
            let generate = dlsym(library, "oath_hotp_generate")
        else { return nil }
        guard unsafeBitCast(initialize, to: (@convention(c) () -> CInt).self)() == 0 else { return nil }
        self.generate = unsafeBitCast(generate, to: Generate.self)
    }

    /// A code of six digits.
    func code(_ counter: UInt64, key: [CChar]) throws -> String {
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { output in
            guard let code = output.baseAddress, generate(key, key.count, counter, 6, false, Self.dynamicTruncation, code) == 0
            else { throw BenchError("oath_hotp_generate failed") }
            return String(cString: code)
        }
    }
}
