import SignetCore
import SignetNetwork

/// A visit of the user's browser to a server, which sends the browser back with a state to an address of this machine.
struct BrowserVisit: Sendable {
    /// The address to which the browser comes back, as the settings of the client name it: on the loopback interface, with a port or
    /// without one, or with the app's own scheme.
    let returnAddress: String
    /// The state of this visit, which other programs don't know.
    let state: String
    /// The timeout for the user.
    let timeout: Duration
    /// The clock for the timeout.
    let clock: any Clock<Duration>
    /// The app's function that opens an address; nil to open it in the system's way.
    let open: BrowserLogin.Opener?
    /// The title of the page that the user sees at the end.
    let title: String

    /// The answer with which the browser came back.
    struct Answer: Sendable {
        /// The fields in their encoded form: the query of an address, or a posted form.
        let query: String
        /// The address that received the answer, with its port.
        let redirectURI: String

        /// Returns the fields of the answer.
        ///
        /// A loopback port refuses an answer that can't be read, so that only an answer to the app's own scheme is an error here.
        /// - Throws: The errors of `AuthorizationResponse.fields(of:)`.
        func fields() throws(OAuthError) -> [String: String] { try AuthorizationResponse.fields(of: query) }
    }

    /// The error for a visit from which the browser did not come back in time.
    struct Expired: Error {
        /// The address to which the browser should have come back.
        let redirectURI: String
        /// The number of answers that came there and were not the answer to this visit: with another state or none, unreadable, or
        /// too long.
        let refusedCount: Int
        /// The kind of the visit: `login` or `logout`.
        let kind: String

        /// The number of refused answers in words, with a semicolon before it; empty for the number 0.
        var remark: String {
            switch refusedCount {
            case 0: ""
            case 1: "; 1 answer that came was not the answer to this \(kind)"
            default: "; \(refusedCount) answers that came were not the answer to this \(kind)"
            }
        }
    }

    /// Opens the browser, and returns the answer with which it comes back.
    ///
    /// An answer without the state of this visit doesn't belong to it, and doesn't end it.
    /// - Parameters:
    ///   - receiver: The receiver of an answer to the app's own scheme; nil for the window of the system or a loopback port.
    ///   - address: A closure that returns the address to open, for the redirect URI that receives the answer.
    /// - Returns: The answer, with the address that received it.
    /// - Throws: ``Expired``; `TokenError` with ``TokenError/Code/cancelled`` when the task is canceled, and with
    ///   ``TokenError/Code/notConfigured`` when nothing can listen at the address; the errors of `address` and of the browser.
    func answer(
        at receiver: RedirectReceiver? = nil,
        from address: @escaping @Sendable (_ redirectURI: String) async throws -> String
    ) async throws -> Answer {
        do {
            let ownWindow = open == nil && LoginBrowser.hasWindow && !returnAddress.hasPrefix("http") ? RedirectReceiver() : nil
            if let receiver = receiver ?? ownWindow {
                return try await inTime(at: returnAddress, refused: receiver.refusedCount) {
                    try await receiver.answer(within: timeout, on: clock, accepting: isExpected) {
                        try await show(try await address(returnAddress), returnAddress, receiver)
                    }
                }
            }
            let listener = try await LoopbackListener.listening(at: returnAddress, title: title)
            let redirectURI = listener.redirectURI
            // The closure creates the address, because the port is closed when the closure fails.
            return try await inTime(at: redirectURI, refused: listener.refusedCount) {
                try await listener.answer(within: timeout, on: clock, accepting: isExpected) {
                    try await show(try await address(redirectURI), redirectURI, nil)
                }
            }
        } catch let error as LoopbackListener.InvalidAddress {
            throw TokenError(.notConfigured, .other(error.reason))
        } catch RedirectReceiver.Failure.cancelled {
            throw TokenError(.cancelled)
        }
    }

    /// A closure that returns true for an answer with the state of this visit.
    ///
    /// An answer to the app's own scheme that has this state, and then can't be read, ends the visit with that error, because the
    /// app doesn't report a refusal to the browser.
    private var isExpected: @Sendable (String) -> Bool {
        { [state] query in FormCoding.decode(query)["state"].map { ConstantTime.areEqual($0, state) } ?? false }
    }

    /// Waits for the answer.
    ///
    /// A server that doesn't know the redirect address shows the reason in the browser only, and never responds.
    private func inTime(
        at redirectURI: String, refused: @autoclosure () -> Int, _ answer: () async throws -> String
    ) async throws -> Answer {
        do {
            return Answer(query: try await answer(), redirectURI: redirectURI)
        } catch RedirectReceiver.Failure.timeout {
            throw Expired(redirectURI: redirectURI, refusedCount: refused(), kind: title.lowercased())
        }
    }

    /// Opens the address with the app's function, or in the system's way.
    private func show(_ address: String, _ redirectURI: String, _ receiver: RedirectReceiver?) async throws {
        if let open { return try await open(address) }
        try await LoginBrowser.open(address, returningTo: redirectURI, within: timeout, to: receiver)
    }
}
