// Codes, imports and vaults on one machine, without a server; and a test of codes.
import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import SignetTransfer

// snippet.hide
func computeCode(uri: String, now: Date) throws -> String? {
    // snippet.show
    let enrollment = try EnrollmentURI.parse(uri)
    guard let settings = enrollment.oath else { return nil }  // The URI is for push only.
    let code = settings.code(at: now)

    // A server keeps the verifier with the user, and stores it after each accepted code.
    var verifier = OATHVerifier(settings: settings)
    guard verifier.verify(code.digits, at: now) == .accepted else { return nil }
    // snippet.hide
    return code.digits
}

func testCodes(uri: String) async throws {
    // snippet.show
    let clock = ManualClock(Date(timeIntervalSince1970: 1_700_000_000))
    let transport = ScriptedTransport { _ in HTTPResponse(status: 503, body: []) }
    let authenticator = Authenticator(
        store: AccountRecords(unsealed: MemoryStore()), transport: transport,
        device: PushDevice(token: "token-1", name: "A test"), clock: clock)

    let enrolled = try await authenticator.enroll(uri: uri)
    let code = try await authenticator.code(for: enrolled.mechanisms[0].uid)
    clock.advance(by: 30)
    precondition(!code.isValid(at: clock.now))
    precondition(transport.requests.isEmpty)  // An account with one-time codes only needs no server.
    // snippet.hide
}

func importAccounts(
    from file: URL, passphrase: Secret, into authenticator: Authenticator, show: (String) -> Void
) async throws -> [UInt8] {
    // snippet.show
    let bytes = try Array(Data(contentsOf: file))
    // The format is detected: Aegis, 2FAS, Google Authenticator, KeePassXC and others.
    let content = try ImportFormat.read(bytes, passphrase: passphrase)
    let report = try await authenticator.importAccounts(content)
    for entry in report.skipped { show("\(entry.name) is not imported: \(entry.detail)") }

    let backup = try await authenticator.archive().sealed(with: passphrase)
    // snippet.hide
    return backup
}

func openVault(in directory: VaultDirectory, showRecoveryKey: (String) -> Void) throws -> Vault {
    // snippet.show
    let tpm = TPMProtector()
    if directory.holdsVault { return try directory.openVault(protectors: [tpm]) }
    let vault = try directory.createVault(.protector(tpm))
    let recoveryKey = try vault.addRecoveryKey()  // Opens the vault when the TPM is lost.
    showRecoveryKey(recoveryKey.text)
    return vault
    // snippet.hide
}

func requireHardware(show: (String) -> Void) async throws {
    // snippet.show
    // Once, before the first use: a TPM or a Secure Enclave. With .separateKey, anything but a key file.
    VaultProvider.default.require(.hardware)
    // snippet.hide
    // snippet.show
    let key = try await VaultProvider.default.addRecoveryKey()
    show(key.text)  // abcd-efgh-…: eight groups of four
    // snippet.hide
}
