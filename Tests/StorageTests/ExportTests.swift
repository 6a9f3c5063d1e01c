// Only Storage: the test compiles only if one import is enough.
import Storage
import Testing

/// An app's own encryptor, whose signature has a type of Foundation.
private struct Reversing: Encryptor {
    func encrypt(data: Data) async throws -> Data { Data(data.reversed()) }
    func decrypt(data: Data) async throws -> Data { Data(data.reversed()) }
}

@Suite("An app that imports Storage only")
struct ExportTests {
    @Test("An app implements an encryptor")
    func implementsEncryptorWithStorageOnly() async throws {
        let sealed = try await Reversing().encrypt(data: Data("abc".utf8))
        #expect(sealed == Data("cba".utf8))
    }
}
