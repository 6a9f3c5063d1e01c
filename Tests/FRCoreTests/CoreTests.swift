import FRCore
import Foundation
import SignetCore
import SignetStorage
import Testing

@Suite("FRCore errors, texts, log and detectors")
struct CoreTests {
    @Test("Errors are NSErrors with the ForgeRock SDK's domain and code, and have a text")
    func bridgesFRCoreErrorsToNSError() {
        let cases: [(any CodedFRError, String, Int, String)] = [
            (NetworkError.invalidResponseDataType, "com.forgerock.ios.frcore.network", 5_000_003, "Invalid response data type"),
            (NetworkError.invalidRequest("param"), "com.forgerock.ios.frcore.network", 5_000_005, "Invalid request: param"),
            (NetworkError.apiRequestFailure(nil, nil, nil), "com.forgerock.ios.frcore.network", 5_000_010, "Request failed"),
            (
                SecurityError.failToExtractPublicKey, "com.forgerock.ios.frcore.security", 5_100_001,
                "The public key cannot be read"
            ),
        ]
        for (error, domain, code, text) in cases {
            #expect(error.code == code && error.errorCode == code && type(of: error).errorDomain == domain)
            #expect(error.localizedDescription == text)
            let object = error as NSError
            #expect(object.domain == domain && object.code == code && object.localizedDescription == text)
            #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == text)
        }
        struct Own: FRError {}
        let info = Own().buildErrorUserInfo(errorMessage: "words", additionalInfo: ["a": 1])
        #expect((info["com.forgerock.auth.errorInfoKey"] as? [String: Int]) == ["a": 1])
    }

    @Test("Texts become base64 in both alphabets and back")
    func encodesTexts() {
        let address = "http://openam.example.com:8081/openam/json/push/sns/message?_action=authenticate"
        for text in ["testing_base64", address, ""] {
            #expect(text.base64Encoded()?.base64Decoded() == text)
            #expect(text.base64URLSafeEncoded()?.decodeURL() == Data(text.utf8))
        }
        #expect("dGVzdGluZ19iYXNlNjQ=".isBase64Encoded() && !"testing_base64".isBase64Encoded())
        #expect("testing+/=".urlSafeEncoding() == "testing-_" && "testing-_".urlSafeDecoding() == "testing+/")
        #expect("abc".sha256?.bytesArray.toHexString() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    /// A logger that keeps what it gets.
    private final class Kept: FRLogger {
        let lines = Mutex<[String]>([])
        private func keep(_ level: String, _ message: String) { lines.withLock { $0.append("\(level) \(message)") } }

        func logVerbose(timePrefix: String, logPrefix: String, message: String) { keep("verbose", message) }
        func logInfo(timePrefix: String, logPrefix: String, message: String) { keep("info", message) }
        func logNetwork(timePrefix: String, logPrefix: String, message: String) { keep("network", message) }
        func logWarning(timePrefix: String, logPrefix: String, message: String) { keep("warning", message) }
        func logError(timePrefix: String, logPrefix: String, message: String) { keep("error", message) }
    }

    @Test("Only the levels that are set are logged, and none with `none`")
    func logsOnlySetLevels() {
        let cases: [(LogLevel, [String])] = [
            ([], []), (.all, ["verbose m", "info m", "warning m", "error m"]), ([.all, .none], []), (.info, ["info m"]),
            ([.warning, .error], ["warning m", "error m"]),
        ]
        for (levels, expected) in cases {
            FRCoreProcess.$current.withValue(FRCoreProcess()) {
                let kept = Kept()
                Log.setCustomLogger(kept)
                Log.setLogLevel(levels)
                Log.v("m")
                Log.i("m")
                Log.w("m")
                Log.e("m")
                let lines = kept.lines.withLock { $0 }
                #expect(lines == expected)
            }
        }
    }

    private struct Score: JailbreakDetector {
        let score: Double
        func analyze() -> Double { score }
    }

    @Test("Detectors give the highest score between 0 and 1; without any the score is -1")
    func scoresDetectors() {
        FRCoreProcess.$current.withValue(FRCoreProcess()) {
            let detector = FRJailbreakDetector.shared
            for one in detector.detectors { #expect((0...1).contains(one.analyze())) }
            let cases: [([Double], Double)] = [([], -1), ([-3], 0), ([0.2, 0.4], 0.4), ([0.2, 7], 1)]
            for (scores, expected) in cases {
                detector.detectors = scores.map { Score(score: $0) }
                #expect(detector.analyze() == expected)
            }
        }
    }
}

@Suite("KeychainService")
struct KeychainServiceTests {
    private let service: KeychainService
    private let vault: VaultProvider

    init() {
        let memory = MemoryStore()
        vault = VaultProvider { () throws(StoreError) in memory }
        service = KeychainService(service: "com.example", in: vault)
    }

    @Test("Texts, Boolean values and bytes are stored, replaced and deleted")
    func storesValues() {
        #expect(service.set("one", key: "text") && service.getString("text") == "one")
        #expect(service.set("two", key: "text") && service.getString("text") == "two")
        #expect(service.set(true, key: "bool") && service.getBool("bool") == true)
        #expect(service.set(false, key: "bool") && service.getBool("bool") == false)
        #expect(service.set(Data([1, 2]), key: "bytes") && service.getData("bytes") == Data([1, 2]))
        #expect(service.allItems()?.keys.sorted() == ["bool", "bytes", "text"])
        #expect(service.allItems()?["text"] as? String == "two" && service.allItems()?["bool"] as? Bool == false)
        for key in ["text", "bool", "bytes", "unknown"] {
            #expect(service.delete(key))
            #expect(service.getString(key) == nil && service.getBool(key) == nil && service.getData(key) == nil)
        }
        #expect(service.set("one", key: "text") && service.set(nil, key: "text") && service.getString("text") == nil)
    }

    @Test("Services and access groups have items of their own, and deleting all of one keeps the others")
    func separatesServicesAndAccessGroups() {
        let group = KeychainService(service: "com.example", accessGroup: "group", in: vault)
        let other = KeychainService(service: "com.other", in: vault)
        for one in [service, group, other] { #expect(one.set(one.debugDescription, key: "key")) }
        #expect(service.deleteAll() && service.getString("key") == nil && service.allItems()?.isEmpty == true)
        #expect(group.getString("key") == group.debugDescription && other.getString("key") == other.debugDescription)
        #expect(group.debugDescription.contains("group"))
    }

    @Test("Without a vault, nothing is stored and nothing is found")
    func storesNothingWithoutVault() {
        let missing = KeychainService(
            service: "com.example",
            in: VaultProvider { () throws(StoreError) in throw StoreError(.noVault, "open", "there is none") })
        #expect(!missing.set("one", key: "text") && missing.getString("text") == nil && missing.allItems() == nil)
        #expect(!missing.deleteAll())
    }
}
