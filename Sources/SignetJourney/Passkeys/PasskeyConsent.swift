/// A use of a passkey that the user allows or refuses.
public enum PasskeyUse: Sendable, Hashable {
    /// A passkey is created for the user of the request, at the domain of the relying party.
    case create(WebAuthnRegistration, relyingPartyID: String)
    /// The server asks for a new passkey although the authenticator holds one that it knows.
    ///
    /// None is created. The server learns about the existing one only if the user agrees (WebAuthn Level 2 section 6.3.2).
    case reportExisting(Passkey)
    /// A passkey signs.
    case sign(Passkey)

    /// The ID of the relying party.
    public var relyingPartyID: String {
        switch self {
        case .create(_, let id): id
        case .reportExisting(let passkey), .sign(let passkey): passkey.relyingPartyID
        }
    }
}

/// The questions that ``VaultPasskeys`` asks the user.
///
/// The user's answer to ``allows(_:)`` is the test of user presence (WebAuthn Level 2 section 6.1, flag UP). It must come from the
/// user each time.
public protocol PasskeyConsent: Sendable {
    /// Asks the user to allow a use of a passkey. Shows the domain of the relying party and the user's name.
    /// - Parameter use: The use.
    /// - Returns: True when the user allows it.
    /// - Throws: `CancellationError`, or any error when the user can't be asked.
    func allows(_ use: PasskeyUse) async throws -> Bool
    /// Asks which of several passkeys signs.
    /// - Parameter passkeys: The passkeys of the relying party, at least two, the newest first.
    /// - Returns: One of them; nil when the user cancels.
    /// - Throws: `CancellationError`, or any error when the user can't be asked.
    func choose(among passkeys: [Passkey]) async throws -> Passkey?
}
