#if SIGNET_FUZZER
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// libFuzzer's way to run inside a program that has a `main` of its own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The fuzzer of this build.
enum Fuzzer {
    /// Looks for bytes that break `target`, as the words after its name say.
    static func run(_ target: SignetFuzz.Target) -> Int32 {
        // A C function captures nothing, so there is one a target.
        let body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32 =
            switch target {
            case .uri: { Fuzzer.read($0, $1, .uri) }
            case .jws: { Fuzzer.read($0, $1, .jws) }
            case .notification: { Fuzzer.read($0, $1, .notification) }
            case .imports: { Fuzzer.read($0, $1, .imports) }
            }
        let arguments = [CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)
        let words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
        for (index, argument) in arguments.enumerated() { words[index] = strdup(argument) }
        words[arguments.count] = nil
        var count = Int32(arguments.count)
        var start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = words
        return runDriver(&count, &start, body)
    }

    private static func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int, _ target: SignetFuzz.Target) -> Int32 {
        target.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }
}
#endif
