import SignetCore
import SignetStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The protection of the agent's memory, in which the keys of an unlocked vault are.
enum MemoryProtection {
    /// Forbids other processes of the user to read this process's memory, by ptrace(2) and in `/proc` (prctl(2), PR_SET_DUMPABLE).
    ///
    /// The administrator can still do so.
    static func forbidReading() {
        #if os(Linux)
        // The Glibc module does not have prctl(2). Its constant is a part of the system's ABI (linux/prctl.h).
        typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = dlsym(nil, "prctl") else { return }
        _ = unsafeBitCast(symbol, to: ProcessControl.self)(4, 0, 0, 0, 0)
        #endif
    }

    /// Keeps the keys of a vault out of the swap space (mlock(2)).
    ///
    /// It reports on standard error when the limit of locked memory is too low, and goes on.
    static func lockKeys(of vault: Vault) {
        guard !vault.lockKeysInMemory() else { return }
        Console.error(
            "signet: warning: the keys cannot be kept out of the swap space: raise the limit of locked memory (ulimit -l)")
    }
}
