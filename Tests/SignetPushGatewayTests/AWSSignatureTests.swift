import Foundation
import SignetCore
import Testing

@testable import SignetPushGateway

/// A request and the signature that botocore computes for it; names refer to cases of the test suite that AWS published.
struct SignedExample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = "GET"
    var path = "/"
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var host = "example.amazonaws.com"
    var body = ""
    var service = "service"
    let signature: String

    var request: AWSSignature.Request {
        AWSSignature.Request(
            method: method, path: path, query: query,
            headers: headers + [("host", host), ("x-amz-date", "20150830T123600Z")], body: Array(body.utf8))
    }

    static let all = [
        SignedExample(
            testDescription: "get-vanilla", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        SignedExample(
            testDescription: "get-vanilla-query-order-key-case", query: [("Param2", "value2"), ("Param1", "value1")],
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        SignedExample(
            testDescription: "a path that is escaped", path: "/%E1%88%B4",
            signature: "697b34846207a3f72246f99d74ae1ee4fe54f44bb06730c58a0d339eb079596d"),
        SignedExample(
            testDescription: "a path with a space and a slash at its end", path: "/example%20space/",
            signature: "446b817944c553435b35e813c261ff4e161fff982d1bacdef1c87f6785dd1662"),
        SignedExample(
            testDescription: "a path with detours", path: "/example1//../example2/./",
            signature: "45b0477e1c9939905e3c7f65ea1014baf9734d5821835f66db80b62df673f2cd"),
        SignedExample(
            testDescription: "post-vanilla", method: "POST",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        SignedExample(
            testDescription: "post-x-www-form-urlencoded", method: "POST",
            headers: [("content-type", "application/x-www-form-urlencoded")], body: "Param1=value1",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        SignedExample(
            testDescription: "a header with spaces", headers: [("my-header1", "  a   b   c ")],
            signature: "6ff6bc3cebca8811504dc903f3a072c310d9f48f8ee5c0b08115052209439e1b"),
        SignedExample(
            testDescription: "SNS behind a path and a port", method: "POST", path: "/am/sns",
            headers: [("content-type", "application/x-www-form-urlencoded; charset=utf-8")], host: "127.0.0.1:4566",
            body: "Action=Publish&Message=%7B%22a%22%3A%22%C3%BC%22%7D", service: "sns",
            signature: "623ff273b41a45f088104cca3aa3a2e8b6a16854b9a6c23f9dbf5c617f88b8ec"),
    ]
}

@Suite("AWS Signature Version 4")
struct AWSSignatureTests {
    private static let credentials = AWSCredentials(
        accessKey: "AKIDEXAMPLE", secret: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".utf8))

    private static func scope(_ example: SignedExample) -> AWSSignature.Scope {
        AWSSignature.Scope(time: "20150830T123600Z", region: "us-east-1", service: example.service)
    }

    @Test("Signatures equal those of botocore", arguments: SignedExample.all)
    func matchesBotocoreSignatures(example: SignedExample) {
        let signature = AWSSignature.signature(of: example.request, Self.scope(example), secret: Self.credentials.secret)
        #expect(signature == example.signature)
    }

    @Test("The header contains the key, the scope and the signed headers but not the secret")
    func headerOmitsSecret() throws {
        let example = SignedExample.all[6]
        let header = AWSSignature.authorization(of: example.request, Self.scope(example), Self.credentials)
        #expect(
            header == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=content-type;host;x-amz-date, Signature=\(example.signature)")
        let claim = try SignatureClaim(header)
        #expect(claim.accessKey == "AKIDEXAMPLE" && claim.signature == example.signature && claim.region == "us-east-1")
        #expect(claim.signedHeaders == ["content-type", "host", "x-amz-date"])
    }

    @Test("A change to any part of a request changes its signature", arguments: SignedExample.all)
    func signsEveryPart(example: SignedExample) {
        var others = [example.request, example.request, example.request, example.request, example.request]
        others[0].method = "PUT"
        others[1].path += "x"
        others[2].query.append(("x", ""))
        others[3].headers[0].value += "x"
        others[4].body.append(0)
        for other in others {
            let signature = AWSSignature.signature(of: other, Self.scope(example), secret: Self.credentials.secret)
            #expect(signature != example.signature)
        }
    }

    @Test("AWS times are written without separators and parsed back")
    func parsesAWSTimes() {
        let date = Date(timeIntervalSince1970: 1_440_938_160)
        #expect(AWSTime.text(date) == "20150830T123600Z")
        #expect(AWSTime.date("20150830T123600Z") == date)
        for text in [
            "", "20150830", "20150830T123600", "20151330T123600Z", "2015-08-30T12:36:00Z", "20150830 123600Z", "aaaaaaaaTbbbbbbZ",
        ] {
            #expect(AWSTime.date(text) == nil, "\(text)")
        }
    }

    @Test("Credentials are read from the environment only when they are complete")
    func readsCompleteCredentials() {
        let whole = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]
        #expect(AWSCredentials(environment: whole) == AWSCredentials(accessKey: "A", secret: Secret("s".utf8)))
        let lent = AWSCredentials(environment: whole.merging(["AWS_SESSION_TOKEN": "t"]) { $1 })
        #expect(lent?.sessionToken == Secret("t".utf8))
        let withoutSecret = whole.merging(["AWS_SECRET_ACCESS_KEY": ""]) { $1 }
        #expect(AWSCredentials(environment: withoutSecret) == nil)
        #expect(AWSCredentials(environment: [:]) == nil)
    }
}
