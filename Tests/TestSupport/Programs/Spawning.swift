#if os(Linux)
import Glibc

/// An error that reports that a program required by a test cannot run.
package struct CannotStart: Error, Sendable, CustomStringConvertible {
    /// The reason.
    package let reason: String
    /// The value of ``reason``.
    package var description: String { reason }

    init(reason: String) { self.reason = reason }

    /// Creates an error with the system's description of an error number.
    init(_ what: String, error: Int32) { reason = "\(what): \(String(cString: strerror(error)))" }
}

extension TestProcess {
    /// Starts a program with these descriptors as its standard streams.
    static func spawn(
        _ command: [String], _ environment: [String: String], _ streams: [Descriptor], ownGroup: Bool
    ) throws(CannotStart) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, stream.number, Int32(number))
        }
        closeAll(from: Int32(streams.count), &actions)
        // The threads of a test block signals, and some signals are ignored. A child that inherited these settings could not be
        // terminated.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (ownGroup ? POSIX_SPAWN_SETPGROUP : 0)))
        var identifier = pid_t()
        let status = withExtendedLifetime(streams) {
            withCStrings(command) { arguments in
                withCStrings(environment.map { "\($0)=\($1)" }) {
                    posix_spawnp(&identifier, command[0], &actions, &attributes, arguments, $0)
                }
            }
        }
        guard status == 0 else { throw CannotStart(command[0], error: status) }
        return identifier
    }

    /// Closes descriptors that the child must not inherit.
    ///
    /// Other code may have opened them without `O_CLOEXEC`, and a server would keep them open while it runs. The function isn't
    /// in the Glibc module, and not in every glibc, so it is looked up.
    private static func closeAll(from first: Int32, _ actions: inout posix_spawn_file_actions_t) {
        typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let add = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(add, to: AddCloseFrom.self)(&actions, first)
    }

    private static func withCStrings<R>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}

/// An open file of this process that is created with `O_CLOEXEC`, so that children never inherit it.
///
/// It is closed on deinitialization.
final class Descriptor: Sendable {
    let number: Int32

    private init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Creates a pipe.
    ///
    /// `pipe2` isn't in the Glibc module, so it is looked up.
    static func pipe() throws(CannotStart) -> (reading: Descriptor, writing: Descriptor) {
        typealias Pipe2 = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32
        var ends: [Int32] = [-1, -1]
        guard let pipe2 = dlsym(nil, "pipe2"), unsafeBitCast(pipe2, to: Pipe2.self)(&ends, O_CLOEXEC) == 0 else {
            throw CannotStart("no pipe", error: errno)
        }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    /// Opens `/dev/null` for reading.
    static func nothing() throws(CannotStart) -> Descriptor {
        let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw CannotStart("/dev/null", error: errno) }
        return Descriptor(number)
    }

    /// Makes writes nonblocking: a write to a full pipe returns immediately.
    func doNotBlock() { _ = fcntl(number, F_SETFL, O_NONBLOCK) }

    /// Writes as many bytes as fit and returns the remaining ones.
    ///
    /// Returns no bytes when all readers have closed the pipe.
    func write(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
        return count < 0 && errno != EAGAIN ? [] : bytes.dropFirst(max(0, count))
    }
}
#endif
