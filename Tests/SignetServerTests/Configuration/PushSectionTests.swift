import SignetCore
import Testing

@testable import SignetServer

@Suite("The section `push` of a configuration file")
struct PushSectionTests {
    @Test("It says how messages travel, in AM's words")
    func whole() throws {
        let configuration = try ServerConfiguration(
            yaml: """
                push:
                  sns:
                    accessKey: AKIDEXAMPLE
                    secret: "s3cret: +"
                    sessionToken: lent
                    appleEndpoint: arn:aws:sns:eu-west-1:123456789012:app/APNS_SANDBOX/desk
                    googleEndpoint: arn:aws:sns:eu-west-1:123456789012:app/GCM/signet
                    endpoint: http://127.0.0.1:4566/
                    timeout: 2
                  gateway:
                    path: /push/
                    keys:
                      - {accessKey: one, secret: first}
                      - {accessKey: two, secret: second}
                """)
        let sns = try #require(configuration.sns)
        #expect(sns.usedRegion == "eu-west-1" && sns.timeout == 2 && sns.endpoint == "http://127.0.0.1:4566/")
        #expect(
            sns.credentials
                == AWSCredentials(accessKey: "AKIDEXAMPLE", secret: Secret("s3cret: +".utf8), sessionToken: Secret("lent".utf8)))
        #expect(sns.application(for: "apns")?.contains("APNS_SANDBOX") == true)
        let gateway = try #require(configuration.pushGateway)
        #expect(gateway.normalPath == "/push" && gateway.keys.map(\.accessKey) == ["one", "two"])
    }

    @Test("Without it, and with an empty one, every device is at the desk")
    func absent() throws {
        for yaml in ["realms: [/]", "realms: [/]\npush:", "push: {}"] {
            let configuration = try ServerConfiguration(yaml: yaml)
            #expect(configuration.sns == nil && configuration.pushGateway == nil)
        }
    }

    static let google = "googleEndpoint: arn:aws:sns:us-east-1:123456789012:app/GCM/signet"

    @Test("Who is to serve it looks for the key where AWS's programs do, and is told by line when there is none")
    func credentials() throws {
        let yaml = "push:\n  sns:\n    \(Self.google)\n"
        #expect(try ServerConfiguration(yaml: yaml).sns?.credentials == nil)
        let environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]
        let found = try ServerConfiguration(yaml: yaml, environment: environment, usesTLS: true)
        #expect(found.sns?.credentials == AWSCredentials(accessKey: "A", secret: Secret("s".utf8)))
        let own = try ServerConfiguration(
            yaml: yaml + "    accessKey: B\n    secret: t\n", environment: environment, usesTLS: true)
        #expect(own.sns?.credentials?.accessKey == "B")
        let error = try #require(throws: ConfigurationError.self) {
            _ = try ServerConfiguration(yaml: yaml, environment: [:], usesTLS: true)
        }
        #expect(
            error.description
                == "3:5: push, sns: there is no access key: say `accessKey` and `secret` here, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"
        )
        // Half a key in the file is not made whole from elsewhere.
        let half = try #require(throws: ConfigurationError.self) {
            _ = try ServerConfiguration(yaml: yaml + "    accessKey: B\n", environment: environment, usesTLS: true)
        }
        #expect(half.problems.count == 1 && half.description.contains("`secret` is missing"))
    }

    static let wrong: [(String, String)] = [
        ("push: sns", "1:7: push: settings belong here, each with a name and a colon, not a single value"),
        ("push: {sms: {}}", "1:8: push: there is no setting `sms`: is `sns` meant? (here are `sns`, `front`)"),
        (
            "push: {sns: {region: us-east-1}}",
            "1:13: push, sns: there is no platform application: `appleEndpoint` or `googleEndpoint` is the ARN of one"
        ),
        (
            "push:\n  sns:\n    googleEndpoint: arn:aws:sns:us-east-1:123456789012:app/APNS/signet",
            "3:21: push, sns: `googleEndpoint` is the ARN of a platform application of GCM, "
                + "`arn:aws:sns:us-east-1:123456789012:app/GCM/NAME`, not `arn:aws:sns:us-east-1:123456789012:ap...`"
        ),
        (
            "push:\n  sns:\n    \(google)\n    region: eu-west-1",
            "3:21: push, sns: `googleEndpoint` is in the region `us-east-1`, and requests go to `eu-west-1`"
        ),
        (
            "push:\n  sns:\n    \(google)\n    accessKey: A",
            "3:5: push, sns: `secret` is missing: an access key is an `accessKey` and a `secret`, in quotes"
        ),
        (
            "push:\n  sns:\n    \(google)\n    secret: A",
            "3:5: push, sns: `accessKey` is missing: an access key is an `accessKey` and a `secret`, in quotes"
        ),
        (
            "push:\n  sns:\n    \(google)\n    endpoint: localhost",
            "4:15: push, sns: `endpoint` is an address, `http://127.0.0.1:4566/`: not an absolute http or https address"
        ),
        (
            "push:\n  sns:\n    \(google)\n    timeout: 0",
            "4:14: push, sns: `timeout` is a whole number, 1 to 60, not `0`"
        ),
        (
            "push: {gateway: {path: /x}}",
            "1:15: push, gateway: `keys` is missing: without one nobody may send; `keys: [{accessKey: \"...\", secret: \"...\"}]`"
        ),
        (
            "push: {gateway: {path: \"/a b\", keys: [{accessKey: a, secret: b}]}}",
            "1:22: push, gateway: `path` is the path of an address, `/sns`, of letters, digits and `/ - . _ ~`"
        ),
        (
            "push: {gateway: {path: /am/sns, keys: [{accessKey: a, secret: b}]}}",
            "1:7: push, gateway: `path` lies in the `contextPath`, `/am`: take one outside of it"
        ),
        (
            "push: {gateway: {keys: [{accessKey: a}]}}",
            "1:23: push, gateway, keys: `secret` is missing: an access key is an `accessKey` and a `secret`, in quotes"
        ),
        (
            "push: {gateway: {keys: [{accessKey: a, secret: b}, {accessKey: a, secret: c}]}}",
            "1:50: push, gateway, keys: there is a key with this `accessKey` already"
        ),
        (
            "push: {gateway: {keys: [a]}}",
            "1:23: push, gateway, keys: settings belong here, each with a name and a colon, not a single value"
        ),
    ]

    @Test("What is wrong is said by line, with the way out", arguments: wrong.indices)
    func problems(index: Int) throws {
        let (yaml, expected) = Self.wrong[index]
        let error = try #require(throws: ConfigurationError.self) { _ = try ServerConfiguration(yaml: yaml) }
        #expect(error.problems.map(\.description) == [expected])
    }

    @Test("Nothing of a secret is repeated")
    func secrets() throws {
        let yaml =
            "push:\n  gateway:\n    keys:\n      - {accessKey: a, secret: [hush, quiet]}\n      - {accessKey: b, secret:hush}"
        let error = try #require(throws: ConfigurationError.self) { _ = try ServerConfiguration(yaml: yaml) }
        #expect(!error.description.contains("hush") && !error.description.contains("quiet"), "\(error)")
    }
}
