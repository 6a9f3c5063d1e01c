import SignetCore
import YAMLText

/// Reads the section `push` of a configuration file (docs/reference/configuration.md), which configures the delivery of push messages.
struct PushReader {
    private(set) var problems: [ConfigurationProblem] = []
    /// The environment variables, which can contain the access key if the file does not; nil when only the file is read.
    private let environment: [String: String]?

    init(environment: [String: String]?) {
        self.environment = environment
    }

    /// Reads the section. The parts that the section omits are nil.
    mutating func read(_ value: MarkedValue?) -> (sns: SNSConfiguration?, gateway: PushGatewayConfiguration?) {
        guard let value else { return (nil, nil) }
        var reader = SectionReader(value, subject: "push")
        let sns = reader.value("sns", kind: "the way to phones")
        let gateway = reader.value("gateway", kind: "the push gateway")
        problems += reader.finished()
        return (sns.map { readSNS($0) }, gateway.map { readGateway($0) })
    }

    // MARK: SNS

    /// Reads the SNS configuration. The settings have the names of AM's Push Notification Service.
    private mutating func readSNS(_ value: MarkedValue) -> SNSConfiguration {
        var reader = SectionReader(value, subject: "push, sns")
        var sns = SNSConfiguration()
        sns.appleEndpoint = application("appleEndpoint", [.apple, .appleSandbox], &reader)
        sns.googleEndpoint = application("googleEndpoint", [.google], &reader)
        if sns.appleEndpoint == nil, sns.googleEndpoint == nil, reader.problems.isEmpty {
            reader.note(
                value.place, "there is no platform application: `appleEndpoint` or `googleEndpoint` is the ARN of one")
        }
        sns.region = reader.optionalText("region", standard: "that of the platform applications")
        for (name, arn) in [("appleEndpoint", sns.appleEndpoint), ("googleEndpoint", sns.googleEndpoint)] {
            guard let region = sns.usedRegion, let found = arn.flatMap(SNSResource.init)?.region, found != region else {
                continue
            }
            reader.note(
                reader.place(of: name), "`\(name)` is in the region `\(found)`, and requests go to `\(region.shortened)`")
        }
        sns.credentials = credentials(&reader, areNeeded: false) ?? credentialsOutside(&reader)
        sns.endpoint = address("endpoint", &reader)
        sns.timeout = reader.number("timeout", sns.timeout, in: 1...60)
        problems += reader.finished()
        return sns
    }

    private func application(
        _ name: String, _ platforms: [SNSResource.Platform], _ reader: inout SectionReader
    ) -> String? {
        let names = platforms.map(\.rawValue).joined(separator: " or ")
        guard let arn = reader.optionalText(name, kind: "the ARN of a platform application of \(names)") else { return nil }
        if let found = SNSResource(arn), found.kind == .application, platforms.contains(found.platform) { return arn }
        reader.note(
            reader.place(of: name),
            "`\(name)` is the ARN of a platform application of \(names), "
                + "`arn:aws:sns:us-east-1:123456789012:app/\(platforms[0].rawValue)/NAME`, not `\(arn.shortened)`")
        return nil
    }

    private func address(_ name: String, _ reader: inout SectionReader) -> String? {
        guard let url = reader.optionalText(name, kind: "an address", standard: "Amazon's in the region") else { return nil }
        do {
            // Plain HTTP is permitted, because the URL can be that of a local replacement for AWS SNS in a test.
            let endpoint = try Endpoint(unchecked: url)
            guard !url.contains("?"), !url.contains("#") else {
                reader.note(reader.place(of: name), "`\(name)` is an address without a query")
                return nil
            }
            return endpoint.url
        } catch {
            reader.note(reader.place(of: name), "`\(name)` is an address, `http://127.0.0.1:4566/`: \(error)")
            return nil
        }
    }

    /// Reads an access key. The problems never contain its value.
    private func credentials(_ reader: inout SectionReader, areNeeded: Bool) -> AWSCredentials? {
        let id = text("accessKey", "the id of an access key", &reader)
        let secret = text("secret", "the secret of the access key", &reader)
        let token = text("sessionToken", "the token of an access key that is lent", &reader)
        if let id, let secret {
            return AWSCredentials(accessKey: id, secret: Secret(secret.utf8), sessionToken: token.map { Secret($0.utf8) })
        }
        if areNeeded || id != nil || secret != nil || token != nil {
            let missing = id == nil ? "accessKey" : "secret"
            reader.note(reader.place, "`\(missing)` is missing: an access key is an `accessKey` and a `secret`, in quotes")
        }
        return nil
    }

    /// Reads the access key from the environment variables of AWS if the file has none. Command-line
    /// arguments are not used, because they must not contain secrets.
    private func credentialsOutside(_ reader: inout SectionReader) -> AWSCredentials? {
        let isInFile = ["accessKey", "secret", "sessionToken"].contains { reader.isGiven($0) }
        guard let environment, !isInFile else { return nil }
        if let found = AWSCredentials(environment: environment) { return found }
        reader.note(
            reader.place,
            "there is no access key: say `accessKey` and `secret` here, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"
        )
        return nil
    }

    private func text(_ name: String, _ kind: String, _ reader: inout SectionReader) -> String? {
        guard let value = reader.value(name, kind: kind) else { return nil }
        if let text = value.text, !text.isEmpty { return text }
        reader.note(value.place, "`\(name)` is \(kind), in quotes, and not empty")
        return nil
    }

    // MARK: Push gateway

    private mutating func readGateway(_ value: MarkedValue) -> PushGatewayConfiguration {
        var reader = SectionReader(value, subject: "push, gateway")
        var gateway = PushGatewayConfiguration(keys: [])
        gateway.path = reader.text("path", gateway.path)
        if gateway.normalPath.utf8.contains(where: { !Self.isPlain($0) }) {
            reader.note(reader.place(of: "path"), "`path` is the path of an address, `/sns`, of letters, digits and `/ - . _ ~`")
        }
        let keys = reader.elements("keys", kind: "a list of access keys")
        if keys.isEmpty, reader.problems.isEmpty {
            reader.note(
                value.place, "`keys` is missing: without one nobody may send; `keys: [{accessKey: \"...\", secret: \"...\"}]`")
        }
        problems += reader.finished()
        for key in keys {
            var part = SectionReader(key, subject: "push, gateway, keys")
            let found = credentials(&part, areNeeded: key.mapping != nil)
            if let found, gateway.keys.contains(where: { $0.accessKey == found.accessKey }) {
                part.note(key.place, "there is a key with this `accessKey` already")
            }
            if let found { gateway.keys.append(found) }
            problems += part.finished()
        }
        return gateway
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
