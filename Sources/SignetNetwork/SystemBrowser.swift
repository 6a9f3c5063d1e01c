public import SignetCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The person's own browser.
public enum SystemBrowser {
    /// It could not be opened.
    public struct CannotOpen: Error, Sendable, Hashable, CustomStringConvertible {
        /// Why, and what the person can do.
        public let description: String
    }

    /// Opens a web address with `xdg-open` (on a Mac with `open`), and waits until that program has handed it over.
    /// - Throws: ``CannotOpen`` when the address is none of the web, or the program is missing or fails.
    public static func open(_ address: String) async throws {
        // Nothing but an address may reach a program that opens anything.
        try check(address)
        #if os(macOS)
        let program = "open"
        #else
        let program = "xdg-open"
        #endif
        let child = try spawn(program, address)
        while true {
            var status: Int32 = 0
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child {
                guard status == 0 else {
                    throw CannotOpen(description: "\(program) could not open a browser; open the address yourself")
                }
                return
            }
            guard ended == 0 else { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Opens an address that nobody else may read: arguments of programs can be read by every user of the machine. The program gets an
    /// address of this machine in its place, which sends the browser on, once.
    ///
    /// Whoever reads that address before the browser comes can come first; then the browser is told that the page is gone.
    /// - Parameters:
    ///   - address: Where the browser is sent.
    ///   - patience: how long the browser may take to come.
    ///   - open: opens the address that everybody may read.
    /// - Throws: ``CannotOpen``, also when no browser came; `CancellationError`; what `open` throws.
    public static func open(
        confidential address: Secret, within patience: Duration = .seconds(60),
        open: @escaping @Sendable (_ address: String) async throws -> Void = { try await SystemBrowser.open($0) }
    ) async throws {
        try check(address.text)
        do {
            let page = try await LoopbackListener.sendingOn(to: address)
            _ = try await page.answer(
                within: patience, accepting: { _ in true }, whileOpening: { try await open(page.redirectURI) })
        } catch let failure as RedirectReceiver.Failure {
            guard failure == .timeout else { throw CancellationError() }
            throw CannotOpen(description: "no browser came within \(patience.components.seconds) seconds")
        } catch let error as LoopbackListener.InvalidAddress {
            throw CannotOpen(description: error.reason)
        }
    }

    private static func check(_ address: String) throws(CannotOpen) {
        guard address.hasPrefix("https://") || address.hasPrefix("http://"),
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw CannotOpen(description: "not a web address") }
    }

    private static func spawn(_ program: String, _ argument: String) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        let environment = _NSGetEnviron().pointee
        #else
        var actions = posix_spawn_file_actions_t()
        let environment = environ
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        // A signal that this program ignores, or has for itself, is the browser's to be ended by.
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        #else
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(argument), nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        guard posix_spawnp(&child, program, &actions, &attributes, &arguments, environment) == 0 else {
            throw CannotOpen(description: "\(program) is not here; open the address yourself")
        }
        return child
    }
}
