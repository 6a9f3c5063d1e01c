#if os(Linux)
import Foundation
import Glibc
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

@Suite("Where there is no TPM")
struct TPMAbsenceTests {
    private let dataKey = Secret.random(byteCount: 32)

    #if !TPM
    @Test("a program built without the trait says so")
    func noTrait() {
        let error = failure { () throws(StoreError) in try TPMProtector().wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("trait TPM") == true)
        #expect(!SecuredKey.isAvailable())
    }
    #endif

    @Test("nothing is searched when the way to it has no name", arguments: ["", ":", ":host=127.0.0.1", "swtpm\0", "\0"])
    func noName(tcti: String) {
        let protector = TPMProtector(tcti: tcti)
        let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("device:/dev/tpmrm0") == true)
        #expect(!protector.availability().isUsable)
    }

    #if TPM
    @Test("the error names the device that is not there")
    func noDevice() {
        let protector = TPMProtector(tcti: "device:/dev/signet-has-no-such-tpm")
        let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("/dev/signet-has-no-such-tpm") == true)
        #expect(error?.platformStatus == ENOENT)
        #expect(protector.availability() == .unusable(error?.reason ?? ""))
    }

    @Test("a file is not taken for a device, and nothing is written into it")
    func notADevice() async throws {
        try await TemporaryDirectory.with { directory in
            try PrivateFile.create(directory.file("file"), containing: [1, 2, 3])
            let protector = TPMProtector(tcti: "device:\(directory.file("file"))")
            let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
            #expect(error?.code == .keyUnavailable)
            let content = try PrivateFile.contents(of: directory.file("file"), limit: 100)
            #expect(content == [1, 2, 3])
        }
    }

    @Test("nobody listens: the key is unavailable")
    func nobodyListens() {
        let protector = TPMProtector(tcti: "swtpm:host=127.0.0.1,port=1")
        let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
    }

    @Test("every library that is missing is named")
    func noLibrary() {
        let names = TSS2Library.Names(
            esys: "libtss2-esys-signet-test.so.0", tctildr: "libtss2-tctildr.so.0", mu: "libtss2-mu-signet-test.so.0")
        let error = failure { () throws(StoreError) in try TSS2Library(names) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("libtss2-esys-signet-test.so.0: cannot open shared object file") == true)
        #expect(error?.reason.contains("libtss2-mu-signet-test.so.0: cannot open shared object file") == true)
        #expect(error?.reason.contains("install") == true)
    }

    @Test("a library that lacks a function is named with it")
    func otherLibrary() {
        let error = failure { () throws(StoreError) in try TSS2Library(.init(mu: "libc.so.6")) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("libc.so.6: it has no function Tss2_MU_TPM2B_PRIVATE_Marshal") == true)
    }

    #if compiler(>=6.3)
    @Test("whoever may not use the device is told which group may")
    func noPermission() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("tpm")
            try PrivateFile.create(path, containing: [])
            chmod(path, 0)
            await #expect(processExitsWith: .success) { [path = path as String] in
                if geteuid() == 0 { try #require(setuid(65534) == 0) }
                let protector = TPMProtector(tcti: "device:\(path)")
                let error = failure { () throws(StoreError) in try protector.wrap(Secret([1]), context: []) }
                #expect(error?.code == .denied)
                #expect(error?.reason.contains("group tss") == true)
                #expect(error?.platformStatus == EACCES)
            }
        }
    }
    #endif

    @Test(
        "a program that listens where the simulators do is not taken for a TPM",
        .enabled(if: TPMSupport.isHere && !TPMSupport.hasRealTPM, "there is a real TPM, or no swtpm"))
    func fakeTPM() async throws {
        try await SoftwareTPM.with(port: 2321) { fake in
            // It is the one that tpm2-tss finds when it is left to search.
            let found = try await fake.tool("tpm2_getcap", "handles-persistent", "-T", "swtpm")
            #expect(found.isEmpty)
            let protector = TPMProtector()
            #expect(!protector.availability().isUsable)
            let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
            #expect(error?.code == .keyUnavailable)
            #expect(!SecuredKey.isAvailable())
            #expect(SecuredKeyEncryptor() == nil)
        }
    }
    #endif
}
#endif
