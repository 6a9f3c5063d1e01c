public import SignetCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The user's default browser.
public enum SystemBrowser {
    /// The browser could not be opened.
    public struct CannotOpen: Error, Sendable, Hashable, CustomStringConvertible {
        /// The reason and the solution.
        public let description: String
    }

    /// Opens a web address with `xdg-open` (`open` on macOS), and waits until that program has exited.
    ///
    /// All users of the machine can read the address. For one with a secret, such as the state of a login, use
    /// ``open(confidential:within:open:)``.
    /// - Throws: ``CannotOpen`` when the address isn't http or https, or the program is missing or fails.
    public static func open(_ address: String) async throws {
        // `xdg-open` also opens files and other schemes, so it must only get web addresses.
        try check(address)
        #if os(macOS)
        let program = "open"
        #else
        let program = "xdg-open"
        #endif
        let child: pid_t
        do throws(ProgramStart.Failure) {
            child = try ProgramStart.start(program, [address])
        } catch {
            throw CannotOpen(description: "\(program) is not here; open the address yourself")
        }
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

    /// Opens an address that must stay secret from the machine's other users, all of which can read the arguments of a process.
    ///
    /// The program gets the address of a loopback page instead, which redirects the browser once. All users can read the address
    /// of that page too. On Linux, the page is only for processes of the same user and the superuser, whatever program opens it; a
    /// browser in a sandbox of its own (Snap, Flatpak) can open it, because it is a web page and not a file. On other systems, a process that
    /// requests the page before the browser does gets the address, and the browser then gets the status 410 (Gone).
    /// - Parameters:
    ///   - address: The confidential address to open.
    ///   - timeout: The timeout for the browser's request to the loopback page.
    ///   - open: The function that opens the address of the loopback page, which other users can read.
    /// - Throws: ``CannotOpen``, also when the browser sends no request in time; `CancellationError`; any error of `open`.
    public static func open(
        confidential address: Secret, within timeout: Duration = .seconds(60),
        open: @escaping @Sendable (_ address: String) async throws -> Void = { try await SystemBrowser.open($0) }
    ) async throws {
        try check(address.text)
        do {
            let page = try await LoopbackListener.sendingOn(to: address)
            _ = try await page.answer(
                within: timeout, accepting: { _ in true }, whileOpening: { try await open(page.redirectURI) })
        } catch let failure as RedirectReceiver.Failure {
            guard failure == .timeout else { throw CancellationError() }
            throw CannotOpen(description: "no browser came within \(timeout.components.seconds) seconds")
        } catch let error as LoopbackListener.InvalidAddress {
            throw CannotOpen(description: error.reason)
        }
    }

    private static func check(_ address: String) throws(CannotOpen) {
        guard address.hasPrefix("https://") || address.hasPrefix("http://"),
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw CannotOpen(description: "not a web address") }
    }
}
