import Crypto
import SignetCore

/// One HOTP code of six digits beside the HMAC it is made of, and beside other people's code.
enum CodeRows {
    static func measure() async throws -> [Row] {
        let secret = Secret(try Base32.decode(Sample.codeSecret))
        let ours = Contender.calls("HOTP.code") { counter in
            HOTP.code(secret: secret, counter: UInt64(counter)).utf8.count
        }
        return [
            Row("HOTP code, beside the bare HMAC", try await Race(ours: ours, reference: bareMAC()).run(), .atMost(1.3)),
            try await besidePyOTP(ours, secret),
            try await besideLibOATH(ours, secret),
        ]
    }

    /// The least that a code can cost with the same swift-crypto.
    private static func bareMAC() throws -> Contender {
        let key = SymmetricKey(data: try Base32.decode(Sample.codeSecret))
        return .calls("HMAC<Insecure.SHA1>") { counter in
            withUnsafeBytes(of: UInt64(counter).bigEndian) { message in
                HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key).withUnsafeBytes { Int($0[19]) }
            }
        }
    }

    private static func besidePyOTP(_ ours: Contender, _ secret: Secret) async throws -> Row {
        let name = "HOTP code, beside pyotp"
        guard let pyotp = try PyOTP() else { return .skipped(name, because: "there is no python3 with pyotp") }
        defer { pyotp.stop() }
        guard try pyotp.code(7) == HOTP.code(secret: secret, counter: 7) else { throw BenchError("pyotp makes another code") }
        let reference = Contender("pyotp HOTP.at") { try pyotp.time($0) }
        return Row(name, try await Race(ours: ours, reference: reference).run(), .atLeast(3))
    }

    private static func besideLibOATH(_ ours: Contender, _ secret: Secret) async throws -> Row {
        let name = "HOTP code, beside liboath"
        guard let liboath = LibOATH() else { return .skipped(name, because: "there is no liboath.so.0") }
        let key = secret.withUnsafeBytes { $0.map { CChar(bitPattern: $0) } }
        guard try liboath.code(7, key: key) == HOTP.code(secret: secret, counter: 7) else {
            throw BenchError("liboath makes another code")
        }
        let reference = Contender.calls("oath_hotp_generate") { try liboath.code(UInt64($0), key: key).utf8.count }
        return Row(name, try await Race(ours: ours, reference: reference).run(), .none)
    }
}
