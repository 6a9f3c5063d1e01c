import Foundation
import Glibc

/// The memory and the processor time of a process that runs.
enum ProcessUsage {
    /// Returns the resident memory of a process now, in MiB.
    /// - Throws: ``BenchError`` when the system does not tell.
    static func residentMebibytes(of process: pid_t) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { throw BenchError("the system does not say how much memory a process has") }
        return kibibytes / 1024
    }

    /// Returns the time for which the threads of a process have run on a processor so far, ended ones too.
    ///
    /// The clock of the process counts nanoseconds; `/proc/PID/stat` counts hundredths of a second.
    /// - Throws: ``BenchError`` when the system does not tell.
    static func processorTime(of process: pid_t) throws -> Duration {
        var clock = clockid_t()
        // The members of `timespec`, of which the compiler does not know for sure which module defines them.
        var time = (seconds: 0, nanoseconds: 0)
        let isKnown = withUnsafeMutablePointer(to: &time) { pointer in
            pointer.withMemoryRebound(to: timespec.self, capacity: 1) { time in
                clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, time) == 0
            }
        }
        guard isKnown else { throw BenchError("the system does not say how long a process has run") }
        return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
    }
}
