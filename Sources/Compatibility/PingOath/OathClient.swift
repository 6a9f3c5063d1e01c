import Foundation
import PingLogger
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTransfer

/// A client for one-time codes with the API of the Ping SDK.
///
/// It is a thin layer over `Authenticator`, which implements the rules.
///
///     let client = try await OathClient.createClient { config in config.storage = CustomStorage() }
///     let credential = try await client.addCredentialFromUri(uri)
///     let code = try await client.generateCode(credential.id)
///
/// The methods throw ``OathError`` and ``OathStorageError``.
public final class OathClient: Sendable {
    private let authenticator: Authenticator
    private let credentials: ClientCredentials
    // The Ping SDK's tests compare the lines that this client logs after a success.
    private let logger: any Logger

    /// Creates a client with this configuration.
    ///
    /// The client owns the configuration's storage from then on.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public init(configuration: sending OathConfiguration) async throws(OathError) {
        logger = configuration.logger
        let (clock, policies) = (configuration.clock, configuration.policies)
        let isCaching = configuration.enableCredentialCache
        let store: any AccountStore
        do throws(StoreError) {
            if let (source, keychain) = configuration.takeover {
                _ = try await LegacyAccounts.takeOver(from: source, into: keychain, now: clock.now)
            }
            store = try await OathConfiguration.store(of: configuration)
        } catch {
            let failure = OathError.initializationFailed(error.description, error)
            logger.e("Failed to open the storage: \(ClientLog.name(of: error))", error: failure)
            throw failure
        }
        authenticator = Authenticator(
            store: store, transport: NoTransport(), device: PushDevice(token: "", name: ""), clock: clock, policies: policies)
        credentials = ClientCredentials(authenticator, kinds: [.totp, .hotp], isCaching: isCaching)
        logger.d("OATH client initialized successfully")
    }

    /// Creates a client with the configuration that `configure` sets up.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public static func createClient(
        configure: (OathConfiguration) -> Void = { _ in }
    ) async throws(OathError) -> OathClient {
        try await OathClient(configuration: OathConfiguration.build(configure))
    }

    /// Stores the one-time-code credential of an `otpauth` or `mfauth` URI.
    ///
    /// An existing account keeps its data.
    /// - Throws: ``OathError/duplicateCredential(_:)`` when the account has a credential of this type,
    ///   ``OathError/policyViolation(_:_:)``, or the error for an invalid URI. In these cases nothing is stored.
    @discardableResult
    public func addCredentialFromUri(_ uri: String) async throws -> OathCredential {
        try await run("add credential from URI", nil) {
            let enrollment = try OathURI.enrollment(of: uri)
            let kind: Mechanism.KindName = if case .time = enrollment.oath?.factor { .totp } else { .hotp }
            let credential = try OathCredential(await credentials.enroll(enrollment, kind))
            logger.i("Successfully added credential: \(credential.id)")
            return credential
        }
    }

    /// Stores a credential: a new one, or a new version of the stored one with the same id.
    ///
    /// The counter never moves back. The account's lock changes only if the app has locked or unlocked the value.
    /// - Returns: The stored credential.
    /// - Throws: ``OathError/duplicateCredential(_:)``, ``OathError/invalidParameterValue(_:)``, ``OathError/invalidSecret(_:)``.
    @discardableResult
    public func saveCredential(_ credential: OathCredential) async throws -> OathCredential {
        try await run("save credential", credential.id) {
            let saved = try OathCredential(
                await credentials.save(credential.id, credential.details) { stored in try credential.mechanism(over: stored) })
            logger.i("Successfully saved credential: \(saved.id)")
            return saved
        }
    }

    /// Returns all credentials, oldest first, with their current locks.
    public func getCredentials() async throws -> [OathCredential] {
        try await run("retrieve credentials", nil) {
            let all = try await credentials.all().map(OathCredential.init)
            logger.d("Retrieved \(all.count) credentials")
            return all
        }
    }

    /// Returns the credential with this id; nil when it does not exist.
    public func getCredential(_ credentialId: String) async throws -> OathCredential? {
        try await run("retrieve credential", credentialId) {
            let found = try await credentials.one(credentialId).map(OathCredential.init)
            logger.d(found == nil ? "Credential not found: \(credentialId)" : "Found credential: \(credentialId)")
            return found
        }
    }

    /// Removes a credential, and its account if it has no other credential.
    /// - Returns: True when the credential existed.
    @discardableResult
    public func deleteCredential(_ credentialId: String) async throws -> Bool {
        try await run("delete credential", credentialId) {
            let existed = try await credentials.remove(credentialId)
            if existed {
                logger.i("Successfully deleted credential: \(credentialId)")
            } else {
                logger.d("Credential not found for deletion: \(credentialId)")
            }
            return existed
        }
    }

    /// Generates the current code of a credential.
    ///
    /// For HOTP, the incremented counter is stored durably before the code is returned, and no counter is used twice.
    /// - Throws: ``OathError/credentialNotFound(_:)``, ``OathError/credentialLocked(_:)``,
    ///   ``OathError/codeGenerationFailed(_:_:)``
    ///   when the counter has reached its end.
    public func generateCode(_ credentialId: String) async throws -> String {
        try await generateCodeWithValidity(credentialId).code
    }

    /// Generates the current code of a credential and returns it with its validity.
    /// - Throws: The errors of ``generateCode(_:)``.
    public func generateCodeWithValidity(_ credentialId: String) async throws -> OathCodeInfo {
        try await run("generate code for credential", credentialId) {
            do {
                let code = try await authenticator.code(for: credentialId)
                // Only an HOTP code changes the store, and thereby makes the cache outdated.
                if case .counter = code.basis { credentials.forget() }
                logger.d("Successfully generated code for credential: \(credentialId)")
                return OathCodeInfo(code, at: authenticator.clock.now)
            } catch {
                credentials.forget()
                throw error
            }
        }
    }

    /// Empties the cache.
    ///
    /// Stored data stay, and the client can be used again.
    public func close() async throws {
        credentials.forget()
        logger.i("OATH client closed successfully")
    }

    /// Runs a call, and converts its error to a type of this API and logs it.
    ///
    /// The lines have no text of an error from outside the SDK.
    private func run<R>(_ call: String, _ id: String?, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch {
            let failure = OathError.translating(error, credentialId: id)
            let isOurs = failure is OathError || failure is OathStorageError
            let reason = (error as? OathError)?.description ?? ClientLog.name(of: error)
            logger.e("Failed to \(call)\(id.map { " \($0)" } ?? ""): \(reason)", error: isOurs ? failure : nil)
            throw failure
        }
    }
}
