#if canImport(Glibc)
package import Glibc
#else
package import Darwin
#endif

/// Starts other programs, without a shell (posix_spawn(3)).
///
/// The program gets the environment of this process. It does not inherit the signals that this process ignores, handles or blocks.
package enum ProgramStart {
    /// A standard stream of the program.
    package enum Stream: Sendable, Hashable {
        /// `/dev/null`.
        case nowhere
        /// An open descriptor of this process.
        case descriptor(Int32)
    }

    /// A program that could not be started.
    package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The number of the system's error.
        package let number: Int32

        /// Creates an error from its number.
        package init(number: Int32) { self.number = number }

        /// The system's text for the error.
        package var description: String { String(cString: strerror(number)) }
    }

    /// Starts a program, and does not wait for it.
    ///
    /// Its standard error is `/dev/null`.
    /// - Parameters:
    ///   - program: The path of the program, or its name for the first one of that name in `PATH`.
    ///   - arguments: The arguments after the name. Other users can read them, so they contain no secret.
    ///   - input: The standard input.
    ///   - output: The standard output.
    ///   - hasOwnSession: True to start it in a session of its own, which the end of the terminal does not end.
    /// - Returns: The process. It is a child, so a process that runs on has to wait for its end.
    /// - Throws: ``Failure``.
    package static func start(
        _ program: String, _ arguments: [String], input: Stream = .nowhere, output: Stream = .nowhere, hasOwnSession: Bool = false
    ) throws(Failure) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let environment = _NSGetEnviron().pointee
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let environment = environ
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [input, output, .nowhere].enumerated() {
            let standard = Int32(number)
            switch stream {
            case .nowhere:
                posix_spawn_file_actions_addopen(
                    &actions, standard, "/dev/null", standard == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
            }
        }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int32(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | (hasOwnSession ? ownSession : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let error = posix_spawnp(&child, program, &actions, &attributes, &words, environment)
        guard error == 0 else { throw Failure(number: error) }
        return child
    }

    /// `POSIX_SPAWN_SETSID`, which the C library declares for programs in C only.
    private static var ownSession: Int32 {
        #if canImport(Darwin)
        return 0x0400
        #else
        return 0x80
        #endif
    }
}
