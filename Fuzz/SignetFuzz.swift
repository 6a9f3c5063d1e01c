import SignetCore
import SignetTransfer

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Gives bytes to what reads other people's bytes.
///
/// It must read or refuse them, and do nothing else: no crash, no hang.
///
///     signet-fuzz TARGET FILE...               reads each file once, in any build
///     signet-fuzz TARGET [libFuzzer's words]   looks for bytes that break it, in a build of `make fuzz`
#if !SIGNET_FUZZER
@main
#endif
enum SignetFuzz {
    /// A parser that gets the inputs.
    enum Target: String, CaseIterable {
        case json
        case uri
        case jws
        case notification
        case imports
        case cookies
        case events
        case step
        #if DEBUG || SIGNET_FUZZER
        case authenticate
        case form
        case signature
        case cbor
        case headers
        case address
        case configuration
        case container
        #endif

        /// Reads `bytes`, and checks what must hold for all that is read.
        func read(_ bytes: [UInt8]) {
            switch self {
            case .json: Self.readJSON(bytes)
            case .uri: Self.readURI(bytes)
            case .jws: Self.readJWS(bytes)
            case .notification: Self.readNotification(bytes)
            case .imports: Self.readImport(bytes)
            case .cookies: ClientInputs.readCookies(bytes)
            case .events: ClientInputs.readEvents(bytes)
            case .step: ClientInputs.readStep(bytes)
            #if DEBUG || SIGNET_FUZZER
            case .authenticate: ServerInputs.readAuthenticate(bytes)
            case .form: ServerInputs.readForm(bytes)
            case .signature: ServerInputs.readSignature(bytes)
            case .cbor: ServerInputs.readCBOR(bytes)
            case .headers: RequestInputs.readHeaders(bytes)
            case .address: RequestInputs.readAddress(bytes)
            case .configuration: RequestInputs.readConfiguration(bytes)
            case .container: ContainerInputs.readContainer(bytes)
            #endif
            }
        }

        /// Both ways of reading agree, and what was read can be written, and is then the same.
        private static func readJSON(_ bytes: [UInt8]) {
            let value = try? JSON.value(of: bytes)
            let members = (try? JSON.members(of: bytes))?.all
            precondition(members == value?.object, "the members are others than those of the value")
            guard let value else { return }
            precondition((try? JSON.value(of: JSON.encode(value))) == value, "a value that was read and written is another one")
        }

        /// Checks that a URI that was read is written as an equal one.
        private static func readURI(_ bytes: [UInt8]) {
            guard let enrollment = try? EnrollmentURI.parse(String(decoding: bytes, as: UTF8.self)) else { return }
            let written = EnrollmentURI.print(enrollment)
            guard written.utf8.count <= EnrollmentURI.maxLength else { return }
            precondition((try? EnrollmentURI.parse(written)) == enrollment, "a URI that was read and written is another one")
        }

        /// That of the push vectors, so that their signatures are right.
        private static let secret = Secret((try? Base64.decode("wh4BisPebv-FgKLqSuSZH_CS4ZuWe9A0P-pYsvNcd8U")) ?? [])

        private static func readJWS(_ bytes: [UInt8]) {
            if let token = SignedToken(String(decoding: bytes, as: UTF8.self)) { _ = token.algorithm }
            guard let sealed = try? SealedPushMessage(String(decoding: bytes, as: UTF8.self)) else { return }
            _ = try? sealed.claimedMechanismUID()
            _ = try? sealed.open(with: secret)
        }

        private static func readNotification(_ bytes: [UInt8]) {
            guard let claims = (try? JSON.value(of: bytes))?.object, let message = try? PushMessage(claims: claims) else {
                return
            }
            let again = try? SealedPushMessage(message.sealed(with: secret)).open(with: secret)
            precondition(again == message, "a message that was sealed and opened is another one")
        }

        /// No two accounts have the same name, and none two mechanisms of a kind, in whatever format it is read.
        private static func readImport(_ bytes: [UInt8]) {
            let detected = ImportFormat.detect(bytes)
            for format in ImportFormat.allCases where detected == nil || detected == format {
                guard let content = try? format.read(bytes) else { continue }
                precondition(Set(content.accounts.map(\.id)).count == content.accounts.count, "an account is there twice")
                for account in content.accounts {
                    precondition(
                        Set(account.mechanisms.map(\.kindName)).count == account.mechanisms.count, "a kind is there twice")
                }
            }
        }
    }

    static func main() {
        guard let target = CommandLine.arguments.dropFirst().first.flatMap(Target.init(rawValue:)) else { refuseUsage() }
        for path in CommandLine.arguments.dropFirst(2) {
            guard let bytes = contents(of: path) else { end(66, "\(path) cannot be read") }
            target.read(bytes)
        }
    }

    static func refuseUsage() -> Never {
        end(64, "usage: signet-fuzz \(Target.allCases.map(\.rawValue).joined(separator: "|")) FILE...")
    }

    private static func end(_ status: Int32, _ text: String) -> Never {
        let line = Array("\(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(status)
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }
}
