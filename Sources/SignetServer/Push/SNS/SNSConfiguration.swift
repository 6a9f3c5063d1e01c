/// How push messages reach phones: through AWS SNS, as AM's Push Notification Service has it, with its names.
public struct SNSConfiguration: Sendable, Hashable {
    /// The platform application of Apple's devices (`APNS` or `APNS_SANDBOX`), as an ARN; nil when there is none, and devices of
    /// the communication type `apns` cannot register.
    public var appleEndpoint: String?
    /// The platform application of all others (`GCM`), as an ARN; nil as with ``appleEndpoint``.
    public var googleEndpoint: String?
    /// The region; nil for that of the platform applications.
    public var region: String?
    /// Who asks; nil for nobody, and nothing can be sent. `signet serve` takes those of its environment then.
    public var credentials: AWSCredentials?
    /// Where the API is; nil for Amazon's address of the region.
    public var endpoint: String?
    /// How many seconds a request may take; at least 1.
    public var timeout = 5

    /// No platform application, and the defaults, with what `configure` changes.
    public init(_ configure: (inout Self) -> Void = { _ in }) { configure(&self) }

    /// The region of the requests; nil when nothing says one.
    var usedRegion: String? {
        region ?? [appleEndpoint, googleEndpoint].lazy.compactMap { $0.flatMap(SNSResource.init)?.region }.first
    }

    /// The platform application that a device of a communication type belongs to. As in AM, what is not exactly `apns` is Google's.
    func application(for communicationType: String) -> String? {
        communicationType == "apns" ? appleEndpoint : googleEndpoint
    }
}

/// The name of a platform application or of an endpoint: `arn:aws:sns:REGION:ACCOUNT:app/PLATFORM/NAME`, and
/// `...:endpoint/PLATFORM/NAME/ID`.
struct SNSResource: Sendable, Hashable {
    enum Kind: String {
        case application = "app"
        case endpoint
    }

    enum Platform: String, Sendable, CaseIterable {
        case apple = "APNS"
        case appleSandbox = "APNS_SANDBOX"
        case google = "GCM"
    }

    let kind: Kind
    let partition: String
    let region: String
    let account: String
    let platform: Platform
    let name: String
    /// What tells the endpoints of an application apart.
    let id: String?

    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard text.utf8.count <= 1024, parts.count == 6, parts[0] == "arn", parts[2] == "sns",
            [parts[1], parts[3], parts[4]].allSatisfy({ $0.isPlainWord })
        else { return nil }
        let steps = parts[5].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let kind = steps.first.flatMap(Kind.init), steps.count == (kind == .application ? 3 : 4),
            let platform = Platform(rawValue: steps[1]), steps.dropFirst(2).allSatisfy(\.isPlainWord)
        else { return nil }
        (partition, region, account) = (parts[1], parts[3], parts[4])
        (self.kind, self.platform, name, id) = (kind, platform, steps[2], steps.count == 4 ? steps[3] : nil)
    }

    /// The name of an endpoint of this application.
    func endpoint(_ id: String) -> String {
        "arn:\(partition):sns:\(region):\(account):\(Kind.endpoint.rawValue)/\(platform.rawValue)/\(name)/\(id)"
    }
}

extension String {
    /// Letters, digits, and what else names in ARNs are made of; not empty.
    fileprivate var isPlainWord: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
