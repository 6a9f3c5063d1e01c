import Foundation
import TestSupport

/// The extent of a run: a short one with the other tests, and a complete one with `SIGNET_ATTACKS=all` (`make attack`).
enum AttackRun {
    private static let environment = ProcessInfo.processInfo.environment

    /// A Boolean value that indicates whether every attack runs in full.
    static let isComplete = environment["SIGNET_ATTACKS"] == "all"

    /// A Boolean value that indicates whether the programs are slow and need much address space, under the address sanitizer.
    static let isSanitized = environment["ASAN_OPTIONS"] != nil

    /// The seeds of random attacks: a fixed one, and in a complete run another one, which `SIGNET_ATTACK_SEED` repeats.
    ///
    /// `make attack` prints it, and each random test has its seed as an argument.
    static let seeds: [UInt64] = [fixedSeed] + (isComplete ? [freshSeed] : [])

    private static let fixedSeed: UInt64 = 20_261_123
    private static let freshSeed = environment["SIGNET_ATTACK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999_999)

    /// Returns the number of rounds of an attack in this run.
    /// - Parameters:
    ///   - short: The number with the other tests.
    ///   - complete: The number of a complete run.
    /// - Returns: One of the two.
    static func rounds(_ short: Int, _ complete: Int) -> Int { isComplete ? complete : short }
}

extension TaskLimiter {
    /// Admits the attacks, each of which has a server, or a vault, of its own.
    static let attacks = TaskLimiter(available: 3)
}

/// The built programs, as a user of this machine runs them.
enum AttackedProgram {
    /// The path of `signet`.
    static let path = Programs.built("signet")

    /// The part of the test's own environment that a child gets.
    static let environment = ProcessInfo.processInfo.environment.filter {
        ["PATH", "LANG", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE", "ASAN_OPTIONS"].contains($0.key)
    }
}
