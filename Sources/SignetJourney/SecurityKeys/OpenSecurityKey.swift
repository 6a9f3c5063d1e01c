#if canImport(CFIDO2) && canImport(Glibc)
import CFIDO2
import Glibc
import SignetCore

/// A connection to a security key, on one thread.
final class OpenSecurityKey {
    private let library: LibFIDO2
    private var device: OpaquePointer?
    /// The channel in place of the device, which the library uses until the connection is closed.
    private let channel: ChannelBox?
    private let cancellation: SecurityKeyCancellation?

    /// Opens a connection.
    /// - Parameters:
    ///   - port: The security key.
    ///   - library: The functions of libfido2.
    ///   - timeout: The maximum time of each operation.
    ///   - cancellation: The means by which another thread cancels the operation.
    /// - Throws: ``SecurityKeyFailure`` when the key is gone or may not be opened.
    init(
        _ port: SecurityKeyPort, _ library: LibFIDO2, timeout: Duration, cancellation: SecurityKeyCancellation? = nil
    ) throws(SecurityKeyFailure) {
        self.library = library
        self.cancellation = cancellation
        channel = port.channel.map { ChannelBox($0) }
        device = library.functions.fido_dev_new()
        guard device != nil else { throw SecurityKeyFailure(status: -9, text: "no memory") }
        var path = port.key.path
        if let channel {
            var io = Self.channelIO
            try library.check(library.functions.fido_dev_set_io_functions(device, &io))
            path = String(UInt(bitPattern: Unmanaged.passUnretained(channel).toOpaque()), radix: 16)
        }
        let milliseconds = timeout.components.seconds.multipliedReportingOverflow(by: 1000)
        let limit = milliseconds.overflow ? Int32.max : Int32(clamping: milliseconds.partialValue)
        try library.check(library.functions.fido_dev_set_timeout(device, max(limit, 1000)))
        try library.check(library.functions.fido_dev_open(device, path))
        if let cancellation, !cancellation.begin(device) {
            throw SecurityKeyFailure(status: LibFIDO2.Status.keepaliveCancel, text: "cancelled")
        }
    }

    deinit {
        cancellation?.end()
        guard device != nil else { return }
        _ = library.functions.fido_dev_close(device)
        library.functions.fido_dev_free(&device)
    }

    /// The abilities of the key that decide how the user is verified.
    var abilities: SecurityKeyAbilities {
        var count: Int32 = 0
        let hasPIN = library.functions.fido_dev_has_pin(device)
        let knowsCount = hasPIN && library.functions.fido_dev_get_retry_count(device, &count) == 0
        return SecurityKeyAbilities(
            isFIDO2: library.functions.fido_dev_is_fido2(device), hasPIN: hasPIN,
            hasUserVerification: library.functions.fido_dev_has_uv(device), pinAttempts: knowsCount ? Int(count) : nil)
    }

    /// Creates a passkey.
    func make(_ order: SecurityKeyOrder, _ request: WebAuthnRegistration) throws(SecurityKeyFailure) -> NewSecurityKeyPasskey {
        let functions = library.functions
        var failure = SecurityKeyFailure(status: LibFIDO2.Status.unsupportedAlgorithm, text: "no algorithm")
        for algorithm in request.algorithms where [-7, -8, -257].contains(algorithm) {
            var credential = functions.fido_cred_new()
            defer { functions.fido_cred_free(&credential) }
            try library.check(functions.fido_cred_set_type(credential, Int32(algorithm)))
            try library.check(functions.fido_cred_set_clientdata_hash(credential, order.clientDataHash, 32))
            try library.check(functions.fido_cred_set_rp(credential, order.relyingPartyID, request.relyingPartyName))
            try library.check(
                functions.fido_cred_set_user(
                    credential, request.userID, request.userID.count, request.userName, request.displayName, nil))
            let isResident = ["required", "preferred"].contains(request.residentKey)
            if isResident { try library.check(functions.fido_cred_set_rk(credential, LibFIDO2.Option.yes.rawValue)) }
            if order.usesBuiltInVerification {
                try library.check(functions.fido_cred_set_uv(credential, LibFIDO2.Option.yes.rawValue))
            }
            for id in request.excludedCredentials {
                try library.check(functions.fido_cred_exclude(credential, id, id.count))
            }
            let status = withPIN(order.pin) { functions.fido_dev_make_cred(device, credential, $0) }
            do throws(SecurityKeyFailure) {
                try library.check(status)
            } catch {
                guard error.isUnsupportedAlgorithm else { throw error }
                failure = error
                continue
            }
            return NewSecurityKeyPasskey(
                id: LibFIDO2.bytes(functions.fido_cred_id_ptr(credential), functions.fido_cred_id_len(credential)),
                authenticatorData: LibFIDO2.bytes(
                    functions.fido_cred_authdata_raw_ptr(credential), functions.fido_cred_authdata_raw_len(credential)),
                format: LibFIDO2.text(functions.fido_cred_fmt(credential)) ?? "none",
                statement: LibFIDO2.bytes(
                    functions.fido_cred_attstmt_ptr(credential), functions.fido_cred_attstmt_len(credential)))
        }
        throw failure
    }

    /// Signs, for each account that the key has at the relying party.
    func sign(_ order: SecurityKeyOrder, _ request: WebAuthnAuthentication) throws(SecurityKeyFailure) -> [SecurityKeySignature] {
        let functions = library.functions
        var assertion = functions.fido_assert_new()
        defer { functions.fido_assert_free(&assertion) }
        try library.check(functions.fido_assert_set_clientdata_hash(assertion, order.clientDataHash, 32))
        try library.check(functions.fido_assert_set_rp(assertion, order.relyingPartyID))
        for id in request.allowedCredentials { try library.check(functions.fido_assert_allow_cred(assertion, id, id.count)) }
        if order.usesBuiltInVerification {
            try library.check(functions.fido_assert_set_uv(assertion, LibFIDO2.Option.yes.rawValue))
        }
        try library.check(withPIN(order.pin) { functions.fido_dev_get_assert(device, assertion, $0) })
        var signatures: [SecurityKeySignature] = []
        for index in 0..<functions.fido_assert_count(assertion) {
            let data = LibFIDO2.bytes(
                functions.fido_assert_authdata_ptr(assertion, index), functions.fido_assert_authdata_len(assertion, index))
            guard let data = Self.content(ofByteString: data) else {
                throw SecurityKeyFailure(status: -4, text: "authenticator data of another form")
            }
            let account = SecurityKeyAccount(
                credentialID: LibFIDO2.bytes(
                    functions.fido_assert_id_ptr(assertion, index), functions.fido_assert_id_len(assertion, index)),
                userID: LibFIDO2.bytes(
                    functions.fido_assert_user_id_ptr(assertion, index), functions.fido_assert_user_id_len(assertion, index)),
                userName: LibFIDO2.text(functions.fido_assert_user_name(assertion, index)),
                displayName: LibFIDO2.text(functions.fido_assert_user_display_name(assertion, index)))
            signatures.append(
                SecurityKeySignature(
                    account: account, authenticatorData: data,
                    signature: LibFIDO2.bytes(
                        functions.fido_assert_sig_ptr(assertion, index), functions.fido_assert_sig_len(assertion, index))))
        }
        return signatures
    }

    /// Returns the content of a CBOR byte string of at most 65,535 bytes (RFC 8949 section 3.1); nil for another item.
    static func content(ofByteString item: [UInt8]) -> [UInt8]? {
        guard let head = item.first else { return nil }
        let (start, count): (Int, Int)
        switch head {
        case 0x40...0x57: (start, count) = (1, Int(head & 0x1F))
        case 0x58 where item.count > 1: (start, count) = (2, Int(item[1]))
        case 0x59 where item.count > 2: (start, count) = (3, Int(item[1]) << 8 | Int(item[2]))
        default: return nil
        }
        return item.count == start + count ? Array(item[start...]) : nil
    }

    /// Calls `body` with the PIN as a C string, which is overwritten afterwards; with null without a PIN.
    private func withPIN(_ pin: Secret?, _ body: (UnsafePointer<CChar>?) -> Int32) -> Int32 {
        guard let pin else { return body(nil) }
        var text = pin.withUnsafeBytes { bytes in bytes.map { CChar(bitPattern: $0) } }
        text.append(0)
        return text.withUnsafeMutableBufferPointer { buffer in
            defer { if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) } }
            return body(buffer.baseAddress)
        }
    }

    // MARK: Channels

    /// A channel, by whose address the library's functions find it.
    private final class ChannelBox: Sendable {
        let channel: any SecurityKeyChannel
        init(_ channel: any SecurityKeyChannel) { self.channel = channel }
    }

    /// The functions with which the library reads and writes a channel.
    ///
    /// The path that it opens is the address of the ``ChannelBox``, which lives as long as the connection.
    private static var channelIO: cfido2_io {
        cfido2_io(
            open: { path in
                guard let path, let address = UInt(String(cString: path), radix: 16) else { return nil }
                return UnsafeMutableRawPointer(bitPattern: address)
            },
            close: { _ in },
            read: { handle, bytes, count, milliseconds in
                guard let handle, let bytes else { return -1 }
                let box = Unmanaged<ChannelBox>.fromOpaque(handle).takeUnretainedValue()
                guard let report = box.channel.read(within: milliseconds < 0 ? nil : Int(milliseconds)),
                    report.count <= count
                else { return -1 }
                for (index, byte) in report.enumerated() { bytes[index] = byte }
                return Int32(report.count)
            },
            write: { handle, bytes, count in
                guard let handle, let bytes, count > 1 else { return -1 }
                let box = Unmanaged<ChannelBox>.fromOpaque(handle).takeUnretainedValue()
                // The first byte is the number of the report, which is always 0.
                let report = Array(UnsafeBufferPointer(start: bytes, count: count).dropFirst())
                return box.channel.write(report) ? Int32(count) : -1
            })
    }
}

/// The abilities of a security key.
struct SecurityKeyAbilities: Sendable {
    let isFIDO2: Bool
    let hasPIN: Bool
    /// True when the key verifies the user itself, for example with a fingerprint.
    let hasUserVerification: Bool
    /// The number of attempts for the PIN; nil when it is not known.
    let pinAttempts: Int?
}

/// The inputs of an operation that the request doesn't contain.
struct SecurityKeyOrder: Sendable {
    let relyingPartyID: String
    let clientDataHash: [UInt8]
    let usesBuiltInVerification: Bool
    var pin: Secret?
}

/// A passkey that a security key has created.
struct NewSecurityKeyPasskey: Sendable {
    let id: [UInt8]
    let authenticatorData: [UInt8]
    /// The format of the attestation statement.
    let format: String
    /// The attestation statement, as CBOR.
    let statement: [UInt8]
}

/// A signature of a security key.
struct SecurityKeySignature: Sendable {
    let account: SecurityKeyAccount
    let authenticatorData: [UInt8]
    let signature: [UInt8]
}

/// Cancels an operation of a security key from another thread, so that the key waits for no touch any more.
final class SecurityKeyCancellation: Sendable {
    private struct State {
        /// The address of the library's device; nil while no operation runs.
        var device: UInt?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Takes the device of the operation.
    ///
    /// Returns false when the operation was canceled before.
    func begin(_ device: OpaquePointer?) -> Bool {
        let address = device.map { UInt(bitPattern: $0) }
        return state.withLock { state in
            state.device = address
            return !state.isCancelled
        }
    }

    /// Forgets the device before it is closed.
    func end() { state.withLock { $0.device = nil } }

    /// Tells the key to end its operation (CTAPHID_CANCEL, CTAP 2.1 section 11.2.9.1.5).
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            guard let device = state.device.flatMap({ OpaquePointer(bitPattern: $0) }), let library = try? LibFIDO2.load()
            else { return }
            _ = library.functions.fido_dev_cancel(device)
        }
    }
}
#endif
