#if SIGNET_FUZZER
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Takes the first word, which names the target, away from libFuzzer, whose `main` runs in this build.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> Int32 {
    guard Fuzzer.target != nil, let all = words.pointee else { SignetFuzz.refuseUsage() }
    all[1] = all[0]
    words.pointee = all + 1
    count.pointee -= 1
    return 0
}

/// One try.
@_cdecl("LLVMFuzzerTestOneInput")
public func tryInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    Fuzzer.target?.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// The fuzzer of this build.
enum Fuzzer {
    /// The target of this process.
    static let target = CommandLine.arguments.dropFirst().first.flatMap(SignetFuzz.Target.init(rawValue:))
}
#endif
